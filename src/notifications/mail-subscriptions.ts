import { activitySince } from '../activity/activity-since.ts';
import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { MAIL_KIND_NAMES, type MailKind } from '../contract/dashboard/mail-kinds.ts';
import type { Database, Queryable, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import { queueConfirmation } from './mail-confirmation.ts';

type Person = { organizationId: string; userId: string };

/** What a person wants mail about. */
export async function readMailKinds(db: Queryable, { organizationId, userId }: Person): Promise<MailKind[]> {
  const rows = await db.query<{ kind: MailKind }>(sql`
    select kind from mail_subscriptions where user_id = ${userId} and organization_id = ${organizationId}`);
  const chosen = new Set(rows.map(({ kind }) => kind));
  return MAIL_KIND_NAMES.filter((kind) => chosen.has(kind));
}

const NEW_COLUMNS = { kind: 'text', notifiedHour: 'timestamptz', notifiedCount: 'bigint' } as const;

/** Chooses what a person gets mail about. What happened before is not mailed. */
export async function changeMailKinds(
  db: Database,
  actor: Actor,
  person: Person,
  kinds: readonly MailKind[],
  now: Date | null,
): Promise<void> {
  await db.transaction(async (tx) => {
    const old = await readMailKinds(tx, person);
    const wanted = MAIL_KIND_NAMES.filter((kind) => kinds.includes(kind));
    if (old.join() !== wanted.join()) await storeMailKinds(tx, actor, person, { old, wanted }, now);
    // Behind the subscriptions: a digest, too, locks those first, and the count of mails then.
    if (wanted.length > 0) await queueConfirmation(tx, person, now);
  });
}

/** After a change of address: what waits was for the old one. If the person has chosen mail, the new one gets a code. */
export async function restartConfirmation(tx: Transaction, person: Person, now: Date | null): Promise<void> {
  await tx.query(sql`delete from mails where user_id = ${person.userId} and status = 'pending'`);
  if ((await readMailKinds(tx, person)).length > 0) await queueConfirmation(tx, person, now);
}

async function storeMailKinds(
  tx: Transaction,
  actor: Actor,
  { organizationId, userId }: Person,
  { old, wanted }: { old: MailKind[]; wanted: MailKind[] },
  now: Date | null,
): Promise<void> {
  await tx.query(sql`
    delete from mail_subscriptions where user_id = ${userId} and not kind = any(${wanted}::text[])`);
  const [hour] = await tx.query<{ at: Date }>(sql`select date_trunc('hour', ${clockTime(now)}, 'UTC') as at`);
  const added = wanted
    .filter((kind) => !old.includes(kind))
    .map((kind) => ({ kind, organizationId, notifiedHour: hour?.at ?? new Date(), notifiedCount: 0 }));
  const notified = await activitySince(tx, added);
  const rows = added.map(({ kind, ...start }, index) => ({ kind, ...start, ...notified[index] }));
  // The mail before counts, so that nobody has themselves mailed more often by choosing a kind again and again.
  await tx.query(sql`
    insert into mail_subscriptions (user_id, organization_id, kind, told_hour, told_count, mailed_at)
    select ${userId}, ${organizationId}, kind, notified_hour, notified_count,
      (select max(m.created_at) from mails m where m.user_id = ${userId} and m.counts ? rows.kind)
    from ${unnestRows('rows', rows, NEW_COLUMNS)}
    on conflict do nothing`);
  await recordAudit(tx, actor, {
    organizationId,
    action: 'user.account_changed',
    object: { kind: 'user', id: userId },
    old: { mailKinds: old },
    new: { mailKinds: wanted },
    at: now,
  });
}
