import { activitySince } from '../activity/activity-since.ts';
import type { MailKind } from '../contract/dashboard/mail-kinds.ts';
import type { Database, Queryable, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import { newId } from '../ids/new-id.ts';
import { countBadges } from './count-attention.ts';
import { dealersAtLimit } from './mail-limits.ts';

/** Nobody gets more than one mail of a kind in this time. What happens meanwhile is in the next one. */
const DIGEST_EVERY_MINUTES = 60;
const BATCH_LIMIT = 200;

/** The badge that says whether anything of a kind still waits for somebody. */
const BADGES: Record<MailKind, string> = {
  orders: 'orders',
  conflicts: 'customers',
  dead_letters: 'deliveries',
  webhooks_off: 'integrations',
};

type Subscription = {
  userId: string;
  organizationId: string;
  kind: MailKind;
  notifiedHour: Date;
  notifiedCount: number;
};
/** What is new for a subscription, and how far its person was notified before. */
type News = Subscription & { fresh: number; isMailed: boolean; hourBefore: Date; countBefore: number };

type DigestOptions = { now: Date | null; onFault: (error: unknown) => void; signal?: AbortSignal | undefined };

/**
 * Writes one mail for each person about everything new of the kinds that they chose. A mail and how far the person was
 * notified are one commit, so that nothing is sent twice and nothing is left out. What was dealt with meanwhile is left out.
 * If the counts of a dealer fail, that dealer's mail is left to the next round.
 */
export async function writeDigests(db: Database, { now, onFault, signal }: DigestOptions): Promise<void> {
  let after = { userId: '', kind: '' };
  for (;;) {
    const batch = await dueSubscriptions(db, after, now);
    const news = await newsFor(db, await withinLimit(db, batch, now), onFault);
    if (news.length > 0) await db.transaction((tx) => queueMails(tx, news, now));
    const last = batch.at(-1);
    if (last === undefined || batch.length < BATCH_LIMIT || signal?.aborted) return;
    after = last;
  }
}

async function dueSubscriptions(
  db: Queryable,
  after: { userId: string; kind: string },
  now: Date | null,
): Promise<Subscription[]> {
  return await db.query<Subscription>(sql`
    select s.user_id as "userId", s.organization_id as "organizationId", s.kind, s.told_hour as "notifiedHour",
      s.told_count as "notifiedCount"
    from mail_subscriptions s join users u on u.id = s.user_id and u.mail_confirmed_at is not null
    where (s.user_id, s.kind) > (${after.userId}, ${after.kind})
      and (s.mailed_at is null or s.mailed_at <= ${clockTime(now)} - make_interval(mins => ${DIGEST_EVERY_MINUTES}))
    order by s.user_id, s.kind limit ${BATCH_LIMIT}`);
}

/**
 * Without those of dealers who had as many mails as a day allows: this bounds how much mail a dealer can make us send. What is
 * new is in the next mail that may be written.
 */
async function withinLimit(db: Queryable, subscriptions: Subscription[], now: Date | null): Promise<Subscription[]> {
  const organizationIds = [...new Set(subscriptions.map(({ organizationId }) => organizationId))];
  const atLimit = await dealersAtLimit(db, organizationIds, now);
  return subscriptions.filter(({ organizationId }) => !atLimit.has(organizationId));
}

async function newsFor(
  db: Database,
  subscriptions: Subscription[],
  onFault: DigestOptions['onFault'],
): Promise<News[]> {
  const since = await activitySince(db, subscriptions);
  const waiting = new Map<string, Record<string, number> | null>();
  const all: News[] = [];
  for (const [index, subscription] of subscriptions.entries()) {
    const news = since[index];
    if (news === undefined || news.fresh === 0) continue;
    const { organizationId, kind, notifiedHour: hourBefore, notifiedCount: countBefore } = subscription;
    if (!waiting.has(organizationId)) waiting.set(organizationId, await countWaiting(db, organizationId, onFault));
    const counts = waiting.get(organizationId);
    if (counts == null) continue;
    const isMailed = (counts[BADGES[kind]] ?? 0) > 0;
    all.push({ ...subscription, ...news, isMailed, hourBefore, countBefore });
  }
  return all;
}

/** Null after a fault, such as a count that takes too long: it must not cost the other dealers their mail. */
async function countWaiting(
  db: Database,
  organizationId: string,
  onFault: DigestOptions['onFault'],
): Promise<Record<string, number> | null> {
  try {
    return await countBadges(db, organizationId);
  } catch (error) {
    onFault(error);
    return null;
  }
}

const NEWS_COLUMNS = {
  userId: 'text',
  kind: 'text',
  notifiedHour: 'timestamptz',
  notifiedCount: 'bigint',
  hourBefore: 'timestamptz',
  countBefore: 'bigint',
  isMailed: 'boolean',
} as const;
const MAIL_COLUMNS = { id: 'text', organizationId: 'text', userId: 'text', counts: 'text' } as const;

/** Leaves out what another worker has queued meanwhile. */
async function queueMails(tx: Transaction, news: News[], now: Date | null): Promise<void> {
  const queued = await tx.query<{ userId: string; kind: MailKind }>(sql`
    update mail_subscriptions s set told_hour = rows.notified_hour, told_count = rows.notified_count,
      mailed_at = case when rows.is_mailed then ${clockTime(now)} else s.mailed_at end
    from ${unnestRows('rows', news, NEWS_COLUMNS)}
    where s.user_id = rows.user_id and s.kind = rows.kind
      and s.told_hour = rows.hour_before and s.told_count = rows.count_before
    returning s.user_id as "userId", s.kind`);
  const isQueued = (one: News) => queued.some(({ userId, kind }) => userId === one.userId && kind === one.kind);
  const people = Map.groupBy(
    news.filter((one) => one.isMailed && isQueued(one)),
    ({ userId }) => userId,
  );
  const mails = [...people].map(([userId, kinds]) => ({
    id: newId('mail'),
    organizationId: kinds[0]?.organizationId ?? '',
    userId,
    counts: JSON.stringify(Object.fromEntries(kinds.map(({ kind, fresh }) => [kind, fresh]))),
  }));
  if (mails.length === 0) return;
  await tx.query(sql`
    insert into mails (id, organization_id, user_id, counts, due_at, created_at)
    select id, organization_id, user_id, counts::jsonb, ${clockTime(now)}, ${clockTime(now)}
    from ${unnestRows('rows', mails, MAIL_COLUMNS)}`);
}
