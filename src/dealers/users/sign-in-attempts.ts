import { createHash } from 'node:crypto';
import { SIGN_UPS_PER_ADDRESS_LIMIT } from '../../contract/dashboard/limits.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { networkOf } from './client-network.ts';

/**
 * Limits guessing of passwords, for each account and for each address, in rows that all nodes share. An attempt counts
 * before the password is looked at, so that attempts made at the same time count, too; a success gives it back.
 *
 * A browser in which the person has signed in before has as many attempts of its own: wrong passwords of strangers don't keep
 * them out. When it has used them up, it is a stranger.
 */
export const ATTEMPTS_PER_ACCOUNT = 10;
/** More than for an account: a whole shop may sign in from one address. */
const ATTEMPTS_PER_ADDRESS = 50;
const WINDOW_MINUTES = 15;
const PRUNE_LIMIT_ROWS = 1_000;

export type AttemptSubject = {
  email: string;
  address: string;
  /** The browser, if the person has signed in there before. */
  device: string | null;
};
/** Null if the attempt may go on; otherwise how many seconds to wait. */
export type AttemptRefusal = number | null;

export async function countAttempt(db: Queryable, subject: AttemptSubject): Promise<AttemptRefusal> {
  const own = ownSubject(subject);
  const address = { hash: addressHash(subject.address), limit: ATTEMPTS_PER_ADDRESS };
  const wait = await count(db, [own, address]);
  if (wait === null || subject.device === null) return wait;
  return await count(db, [strangers(subject), address]);
}

function strangers({ email }: Pick<AttemptSubject, 'email'>): Subject {
  return { hash: digest(`account ${accountOf(email)}`), limit: ATTEMPTS_PER_ACCOUNT };
}

function ownSubject(subject: AttemptSubject): Subject {
  const { email, device } = subject;
  if (device === null) return strangers(subject);
  return { hash: digest(`device ${accountOf(email)} ${device}`), limit: ATTEMPTS_PER_ACCOUNT };
}

/** Counts a sign-up. It is never given back, because each sign-up makes rows that stay. */
export async function countSignUp(db: Queryable, address: string): Promise<AttemptRefusal> {
  return await count(db, [{ hash: digest(`sign-up ${networkOf(address)}`), limit: SIGN_UPS_PER_ADDRESS_LIMIT }]);
}

type Subject = { hash: Buffer; limit: number };
type CountedRow = { hash: Buffer; attempts: number; waitSeconds: number };

const WAIT_SECONDS = sql`ceil(extract(epoch from window_ends_at - now()))::integer`;

async function count(db: Queryable, subjects: Subject[]): Promise<AttemptRefusal> {
  const hashes = subjects.map(({ hash }) => hash);
  // Who has to wait already is told so without a write: no attempt waits for the others' locks and for the disk.
  const found = await db.query<CountedRow>(sql`
    select subject_hash as hash, attempts + 1 as attempts, ${WAIT_SECONDS} as "waitSeconds"
    from sign_in_attempts where subject_hash = any(${hashes}::bytea[]) and window_ends_at > now()`);
  return longestWait(found, subjects) ?? longestWait(await countAll(db, hashes), subjects);
}

async function countAll(db: Queryable, hashes: Buffer[]): Promise<CountedRow[]> {
  return await db.query<CountedRow>(sql`
    insert into sign_in_attempts as a (subject_hash, attempts, window_ends_at)
    select hash, 1, now() + make_interval(mins => ${WINDOW_MINUTES}::integer)
    from unnest(${hashes}::bytea[]) hash order by hash
    on conflict (subject_hash) do update set
      attempts = case when a.window_ends_at <= now() then 1 else a.attempts + 1 end,
      window_ends_at = case when a.window_ends_at <= now() then excluded.window_ends_at else a.window_ends_at end
    returning subject_hash as hash, attempts, ${WAIT_SECONDS} as "waitSeconds"`);
}

function longestWait(rows: CountedRow[], subjects: Subject[]): AttemptRefusal {
  const limitOf = (found: Buffer) => subjects.find(({ hash }) => hash.equals(found))?.limit ?? 0;
  const waits = rows
    .filter(({ hash, attempts }) => attempts > limitOf(hash))
    .map(({ waitSeconds }) => Math.max(1, waitSeconds));
  return waits.length === 0 ? null : Math.max(...waits);
}

/** After a success, the count of the browser or of strangers starts again, and the address gets this attempt back. */
export async function forgiveAttempt(db: Queryable, subject: AttemptSubject): Promise<void> {
  await db.query(sql`delete from sign_in_attempts where subject_hash = ${ownSubject(subject).hash}`);
  await db.query(sql`
    update sign_in_attempts set attempts = greatest(attempts - 1, 0)
    where subject_hash = ${addressHash(subject.address)}`);
}

/** Lifts a lockout, for operators. Returns whether there was one. */
export async function unlockAccount(db: Queryable, email: string): Promise<boolean> {
  const rows = await db.query(sql`
    delete from sign_in_attempts where subject_hash = ${strangers({ email }).hash} returning attempts`);
  return rows.length > 0;
}

export async function pruneAttempts(db: Queryable): Promise<number> {
  const rows = await db.query(sql`
    delete from sign_in_attempts where subject_hash in (
      select subject_hash from sign_in_attempts where window_ends_at <= now() limit ${PRUNE_LIMIT_ROWS})
    returning attempts`);
  return rows.length;
}

/** The account that an email stands for, however somebody types it. */
export function accountOf(email: string): string {
  return email.trim().toLowerCase();
}

function addressHash(address: string): Buffer {
  return digest(`address ${networkOf(address)}`);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
