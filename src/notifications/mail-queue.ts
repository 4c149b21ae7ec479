import { randomInt } from 'node:crypto';
import type { MailKind } from '../contract/dashboard/mail-kinds.ts';
import { MAIL_CLAIM_LOCK } from '../db/advisory-locks.ts';
import type { Database, Queryable, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { waitMsAfter } from '../webhooks/delivery-queue/retries/retry-schedule.ts';

/** A mail that is due, leased to one worker. Its address is the one that the person has now. */
export type ClaimedMail = {
  id: string;
  leaseToken: number;
  attempts: number;
  organizationId: string;
  userId: string;
  email: string;
  organizationName: string;
  counts: Partial<Record<MailKind, number>>;
  /** It has the code that confirms the address, and no counts. */
  isConfirmation: boolean;
};

/** `isFinal` says that another attempt would meet the same refusal. */
export type MailResult = { isSent: true } | { isSent: false; isFinal: boolean; error: string };

/** Longer than an attempt may take. A worker that dies leaves its mail, and the dealer's turn, to another one after this time. */
const LEASE_SECONDS = 120;
const LEASE_TOKEN_MAX = 2 ** 47;
const ERROR_LENGTH_LIMIT = 500;
const KEPT_DAYS = 7;
const PRUNE_LIMIT = 1_000;

/**
 * Claims the mail that is longest due of the next dealer, in the order of their ids, behind the one that was served last. A
 * dealer has one mail under way at a time, on all nodes together: a receiver that hangs holds up its own dealer alone. Null if
 * nothing is due of the others.
 */
export async function claimMail(db: Database, servedLast: string, now: Date | null): Promise<ClaimedMail | null> {
  return await db.transaction(
    async (tx) => {
      await tx.query(sql`select pg_advisory_xact_lock(${MAIL_CLAIM_LOCK})`);
      return (await claimBehind(tx, servedLast, now)) ?? (await claimBehind(tx, '', now));
    },
    { planning: 'by index' },
  );
}

async function claimBehind(tx: Transaction, organizationId: string, now: Date | null): Promise<ClaimedMail | null> {
  const time = sql`(select ${clockTime(now)})`;
  const [mail] = await tx.query<ClaimedMail>(sql`
    update mails m set lease_token = ${randomInt(1, LEASE_TOKEN_MAX)},
      leased_until = ${time} + make_interval(secs => ${LEASE_SECONDS})
    from users u join organizations o on o.id = u.organization_id
    where u.id = m.user_id and m.id = (
      select id from mails
      where status = 'pending' and due_at <= ${time} and organization_id > ${organizationId}
        and organization_id <> all(array(select organization_id from mails where leased_until >= ${time}))
      order by organization_id, due_at limit 1 for update skip locked)
    returning m.id, m.lease_token as "leaseToken", m.attempts, m.counts, m.is_confirmation as "isConfirmation",
      m.organization_id as "organizationId", u.id as "userId", u.email, o.name as "organizationName"`);
  return mail ?? null;
}

/** Records how an attempt ended, if the lease is still this worker's. Returns whether the mail is given up. */
export async function recordMail(
  db: Queryable,
  mail: ClaimedMail,
  result: MailResult,
  now: Date | null,
): Promise<{ isGivenUp: boolean }> {
  const attempts = mail.attempts + 1;
  // A mail is retried when a webhook would be.
  const waitMs = result.isSent || result.isFinal ? null : waitMsAfter(attempts);
  const status = result.isSent ? 'sent' : waitMs === null ? 'failed' : 'pending';
  const error = result.isSent ? null : result.error.slice(0, ERROR_LENGTH_LIMIT);
  await db.query(sql`
    update mails set status = ${status}, attempts = ${attempts}, last_error = ${error}, lease_token = null,
      leased_until = null, due_at = ${clockTime(now)} + make_interval(secs => ${(waitMs ?? 0) / 1_000}),
      finished_at = case when ${status === 'pending'} then null else ${clockTime(now)} end
    where id = ${mail.id} and lease_token = ${mail.leaseToken}`);
  return { isGivenUp: status === 'failed' };
}

/** Deletes a batch of mails that are done; returns how many. */
export async function pruneMails(db: Queryable, now: Date | null): Promise<number> {
  const rows = await db.query(sql`
    delete from mails where id in (
      select id from mails where finished_at < (select ${clockTime(now)}) - make_interval(days => ${KEPT_DAYS})
      limit ${PRUNE_LIMIT} for update skip locked)
    returning id`);
  return rows.length;
}
