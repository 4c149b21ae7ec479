import { createHash } from 'node:crypto';
import { MAILS_PER_DAY_LIMIT } from '../contract/dashboard/limits.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { pruneByAge } from '../db/prune-by-age.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';

/**
 * How much mail a dealer can make us send, and how many codes an address gets. Both are counted apart from the mails, which go
 * with their person: a member who is removed and invited again does not begin at zero. A trigger counts mails (migration 0095).
 */
const CODE_EVERY_HOURS = 24;
/** An hour more than a day: mails are counted by the hour, and the first hour of a day may have begun before it. */
const COUNTED_HOURS = 25;
/** Longer than either limit looks back. */
const KEPT_DAYS = 2;

/** Which of these dealers had as many mails as a day allows. */
export async function dealersAtLimit(
  db: Queryable,
  organizationIds: readonly string[],
  now: Date | null,
): Promise<Set<string>> {
  const rows = await db.query<{ organizationId: string }>(sql`
    select organization_id as "organizationId" from mail_counts
    where organization_id = any(${[...organizationIds]}::text[])
      and hour > (select ${clockTime(now)} - make_interval(hours => ${COUNTED_HOURS}))
    group by organization_id having sum(count) >= ${MAILS_PER_DAY_LIMIT}`);
  return new Set(rows.map(({ organizationId }) => organizationId));
}

/**
 * Whether a code may be mailed to this address now, whoever asks for it; if so, no other may for a day. Those who ask at the
 * same time wait for each other's commit.
 */
export async function takeCodeMail(tx: Transaction, email: string, now: Date | null): Promise<boolean> {
  const hash = createHash('sha256').update(email.toLowerCase()).digest();
  const taken = await tx.query(sql`
    insert into mail_codes (address_hash, mailed_at) values (${hash}, ${clockTime(now)})
    on conflict (address_hash) do update set mailed_at = excluded.mailed_at
      where mail_codes.mailed_at <= excluded.mailed_at - make_interval(hours => ${CODE_EVERY_HOURS})
    returning 1`);
  return taken.length > 0;
}

/** Deletes a batch of what no limit looks at any more; returns how many rows. */
export async function pruneMailLimits(db: Queryable, now: Date | null): Promise<number> {
  const tables = [
    { table: 'mail_counts', time: 'hour' },
    { table: 'mail_codes', time: 'mailed_at' },
  ];
  return await pruneByAge(db, tables, KEPT_DAYS, now);
}
