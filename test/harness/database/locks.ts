import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Database } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import type { Shop } from '../shop.ts';

const WAIT_LIMIT_MS = 60_000;
const POLL_MS = 10;

/** A lock that a session of the test's own holds until it is released. */
export type HeldLock = { release(): Promise<void> };

/** Sessions whose transaction is open. A test that fails leaves its own here, and the next one would wait for its locks. */
const openSessions = new Set<pg.Client>();
afterEach(async () => {
  for (const session of openSessions) await end(session).catch(() => {});
});

async function begin(db: Database): Promise<pg.Client> {
  const session = await db.connect();
  openSessions.add(session);
  await session.query('begin');
  return session;
}

async function end(session: pg.Client): Promise<void> {
  if (!openSessions.delete(session)) return;
  await session.query('commit');
  await session.end();
}

/** Runs a statement that locks something and keeps its transaction open. */
export async function holdLock(db: Database, statement: string, values: unknown[]): Promise<HeldLock> {
  const session = await begin(db);
  await session.query(statement, values);
  return { release: () => end(session) };
}

export function lockClock(db: Database, integrationId: string): Promise<HeldLock> {
  return holdLock(db, 'select 1 from channel_clocks where integration_id = $1 for update', [integrationId]);
}

/** A change of an order as far as its first lock; then it takes more, which nobody may hold who waits for the order. */
export async function changing(
  db: Database,
  orderId: string,
): Promise<{
  takeStock(itemId: string): Promise<void>;
  takeClock(integrationId: string): Promise<void>;
  untilAwaited(): Promise<void>;
  end(): Promise<void>;
}> {
  const session = await begin(db);
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
  await session.query('select 1 from orders where id = $1 for update', [orderId]);
  return {
    async takeStock(itemId) {
      await session.query('select 1 from items where id = $1 for update nowait', [itemId]);
    },
    async takeClock(integrationId) {
      await session.query('select 1 from channel_clocks where integration_id = $1 for update nowait', [integrationId]);
    },
    // For this session, not for one that ended a moment ago and whose waiter hasn't run yet.
    untilAwaited: () =>
      until(async () => {
        const waiting = await db.query(sql`
          select from pg_stat_activity
          where datname = current_database() and ${rows[0]?.pid ?? 0}::integer = any(pg_blocking_pids(pid))`);
        return waiting.length > 0;
      }, 'nobody waited for the change of the order'),
    end: () => end(session),
  };
}

/** A database whose transactions have done all their work and wait with the commit until they are let go; those with such a statement. */
export function pauseCommits(
  db: Database,
  statementPart = '',
): { db: Database; reached: Promise<void>; release(): void } {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const held: Database = {
    ...db,
    transaction: (work, options) =>
      db.transaction(async (tx) => {
        let isMeant = statementPart === '';
        const watched: typeof tx = {
          ...tx,
          query(statement) {
            isMeant ||= statement.text.includes(statementPart);
            return tx.query(statement);
          },
        };
        const result = await work(watched);
        if (!isMeant) return result;
        reached.resolve();
        await released.promise;
        return result;
      }, options),
  };
  return { db: held, reached: reached.promise, release: released.resolve };
}

/** Waits until so many sessions of this database wait for a lock. */
export async function untilBlocked(db: Database, sessions = 1): Promise<void> {
  await until(async () => {
    const rows = await db.query(sql`
      select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    return rows.length >= sessions;
  }, `${sessions} sessions never waited for a lock`);
}

/** Waits until the service has admitted requests of so many tokens since; they are counted when they are admitted. */
export async function admissionCounter(shop: Shop): Promise<(tokens: number) => Promise<void>> {
  const remaining = async () => Number((await shop.api.get('/v1/me')).headers['x-ratelimit-remaining']);
  const start = await remaining();
  let asked = 0;
  return (tokens) =>
    until(async () => {
      asked += 1;
      return start - (await remaining()) - asked >= tokens;
    }, `requests of ${tokens} tokens never arrived`);
}

export async function until(condition: () => Promise<boolean>, complaint: string): Promise<void> {
  const deadline = Date.now() + WAIT_LIMIT_MS;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, complaint);
    await sleep(POLL_MS);
  }
}
