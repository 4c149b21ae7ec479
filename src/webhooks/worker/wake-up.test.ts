import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cloneDatabase, type TestDatabase } from '../../../test/harness/database/database.ts';
import { sql } from '../../db/sql.ts';
import { createNotifier, listenForWake } from './wake-up.ts';

describe('wake-ups between nodes', () => {
  let database: TestDatabase;

  before(async () => {
    database = await cloneDatabase();
  });
  after(() => database.drop());

  /** A listener that counts, and waits for a count. */
  function listen(t: TestContext) {
    let wakes = 0;
    const listener = listenForWake(database.db, () => {
      wakes += 1;
    });
    t.after(() => listener.stop());
    return {
      stop: listener.stop,
      count: () => wakes,
      async until(count: number) {
        for (let round = 0; wakes < count; round++) {
          assert.ok(round < 1_000, `${wakes} of ${count} wake-ups came`);
          await sleep(10);
        }
      },
    };
  }

  it('wake-ups between nodes come at once for the first of many commits, and once more for all that follow it', async (t) => {
    const listener = listen(t);
    await listener.until(1);
    const notify = createNotifier(database.db);
    for (let count = 0; count < 100; count++) notify();
    await listener.until(3);
    await sleep(200);
    assert.equal(listener.count(), 3);
    notify();
    await listener.until(4);
  });

  it('wake-ups between nodes come again after the connection was lost, with one for what was missed', async (t) => {
    const listener = listen(t);
    await listener.until(1);
    await database.db.query(sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen %'`);
    await listener.until(2);
    createNotifier(database.db)();
    await listener.until(3);
  });

  it('wake-ups between nodes can be stopped at any moment, also while connecting', async (t) => {
    for (let time = 0; time < 20; time++) {
      const listener = listen(t);
      await sleep(Math.random() * 15);
      await listener.stop();
    }
    const rows = await database.db.query(sql`
      select pid from pg_stat_activity where datname = current_database() and query like 'listen %'`);
    assert.equal(rows.length, 0, 'a connection was left open');
  });
});
