import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../test/harness/database/database.ts';
import { holdLock, untilBlocked } from '../../test/harness/database/locks.ts';
import { CONNECTIONS_PER_TASK, createConnectionLimit } from './connection-limit.ts';
import type { Database, Queryable } from './database.ts';
import { sql } from './sql.ts';

const AT_ONCE = 20;
const LOCK = 4_711;
/** How often the server is asked, once as many queries wait as may. */
const LOOKS = 20;

describe('a limit on the connections of a task', () => {
  let database: TestDatabase;
  let limited: (db: Database) => Database;
  let db: Database;
  before(async () => {
    database = await cloneDatabase();
  });
  beforeEach(() => {
    limited = createConnectionLimit();
    db = limited(database.db);
  });
  after(() => database.drop());

  const atOnce = <Result>(start: (index: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, index) => start(index)));
  const one = async (on: Queryable) => (await on.query<{ one: number }>(sql`select 1::integer as one`))[0]?.one;
  const waitForLock = (on: Queryable) => on.query(sql`select pg_advisory_xact_lock(${LOCK}::integer)`);

  /** How many sessions wait for the lock, of all looks the most. */
  async function mostWaiting(): Promise<number> {
    let most = 0;
    for (let look = 0; look < LOOKS; look++) {
      const rows = await database.db.query(sql`
        select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`);
      most = Math.max(most, rows.length);
    }
    return most;
  }

  it('lets two of twenty queries that were started at once reach the server, and all of them one after the other', async () => {
    const lock = await holdLock(database.db, 'select pg_advisory_xact_lock($1)', [LOCK]);
    const all = atOnce(() => waitForLock(db));
    await untilBlocked(database.db, CONNECTIONS_PER_TASK);
    assert.equal(await mostWaiting(), CONNECTIONS_PER_TASK);
    await lock.release();
    assert.equal((await all).length, AT_ONCE);
  });

  it('counts a transaction as one, over all databases that were made with it', async () => {
    const other = limited(database.db);
    const lock = await holdLock(database.db, 'select pg_advisory_xact_lock($1)', [LOCK]);
    const all = atOnce((index) => (index % 2 === 0 ? waitForLock(db) : other.transaction((tx) => waitForLock(tx))));
    await untilBlocked(database.db, CONNECTIONS_PER_TASK);
    assert.equal(await mostWaiting(), CONNECTIONS_PER_TASK);
    await lock.release();
    assert.equal((await all).length, AT_ONCE);
  });

  it('refuses a query and a transaction inside of a transaction, which would hold one connection and wait for another', async () => {
    for (const beside of [() => one(db), () => db.transaction(one), () => limited(database.db).transaction(one)]) {
      await assert.rejects(db.transaction(beside), /uses the database beside itself/);
    }
    assert.deepEqual(await Promise.all([one(db), one(db), db.transaction(one)]), [1, 1, 1]);
  });

  it('takes back the connections of queries and transactions that failed', async () => {
    const failed = await Promise.allSettled([
      ...Array.from({ length: 3 }, () => db.query(sql`select 1 / 0`)),
      ...Array.from({ length: 3 }, () => db.transaction(() => Promise.reject(new Error('no')))),
    ]);
    assert.ok(failed.every(({ status }) => status === 'rejected'));
    assert.deepEqual(await Promise.all([one(db), db.transaction(one)]), [1, 1]);
  });

  it('takes work that outlives its transaction for work of its own', async () => {
    const ended = Promise.withResolvers<void>();
    const left: { work?: Promise<unknown> } = {};
    await db.transaction(async () => {
      left.work = ended.promise.then(() => db.transaction(one));
    });
    ended.resolve();
    assert.equal(await left.work, 1);
  });
});
