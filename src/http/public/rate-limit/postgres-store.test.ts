import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { cloneDatabase, type TestDatabase } from '../../../../test/harness/database/database.ts';
import { integrationMaker } from '../../../../test/harness/database/integration-maker.ts';
import { RATE_WINDOW_MS } from '../../../contract/limits.ts';
import { type Database, openDatabase, type QueryLimits } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { postgresStore } from './postgres-store.ts';

/** Longer than any stall of a busy machine. */
const STALL_LIMIT_MS = 60_000;

describe('the rolling window in the database', () => {
  let database: TestDatabase;
  let newIntegration: () => Promise<string>;
  before(async () => {
    database = await cloneDatabase();
    newIntegration = await integrationMaker(database.db);
  });
  after(() => database.drop());

  it('is shared by several nodes: of many spends at once exactly the cap is admitted', async () => {
    const nodes = [1, 2].map(() =>
      openDatabase({ address: database.address, poolSize: 10, onIdleError: () => assert.fail() }),
    );
    const id = await newIntegration();
    const storesOfNodes = nodes.map((db) => postgresStore(db));
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => storesOfNodes[index % 2]?.spend(id, 150, 1)),
    );
    assert.equal(answers.filter((answer) => answer?.isAllowed).length, 150);
    const remaining = answers.filter((answer) => answer?.isAllowed).map((answer) => answer?.remaining);
    assert.equal(new Set(remaining).size, 150, 'no two requests got the same remainder');
    await Promise.all(nodes.map((db) => db.close()));
  });

  /** A database that counts its statements. */
  function counted(db: Database): Database & { statements: number } {
    const counting = {
      ...db,
      statements: 0,
      query<Row extends object>(statement: Sql, limits?: QueryLimits) {
        counting.statements += 1;
        return db.query<Row>(statement, limits);
      },
    };
    return counting;
  }

  it('is spent for all integrations that ask together in one statement', async () => {
    const db = counted(database.db);
    const store = postgresStore(db, () => 1_000_000);
    const ids = await Promise.all(Array.from({ length: 60 }, newIntegration));
    const asked = ids.flatMap((id, index) => [1, 10, 2].map((cost) => ({ id, cost, cap: 12 + (index % 2) })));
    const answers = await Promise.all(asked.map(({ id, cap, cost }) => store.spend(id, cap, cost)));
    assert.equal(db.statements, 1);
    for (const [index, { cap }] of asked.entries()) {
      // 1 and 10 fit; 2 fits if the cap is 13.
      const [isAllowed, remaining] = [
        [true, cap - 1],
        [true, cap - 11],
        [cap === 13, cap === 13 ? 0 : 1],
      ][index % 3] as [boolean, number];
      const waitMs = isAllowed ? 0 : RATE_WINDOW_MS;
      assert.deepEqual(answers[index], { isAllowed, remaining, resetInMs: RATE_WINDOW_MS, waitMs });
    }
  });

  it('is spent for a hundred integrations a statement at most, for the others in the next one', async () => {
    const db = counted(database.db);
    const store = postgresStore(db);
    const ids = await Promise.all(Array.from({ length: 101 }, newIntegration));
    const answers = await Promise.all([...ids, ...ids].map((id) => store.spend(id, 10, 1)));
    assert.equal(db.statements, 2);
    assert.deepEqual(
      answers.map(({ remaining }) => remaining),
      [...ids.map(() => 9), ...ids.map(() => 8)],
    );
  });

  for (const how of ['together with others', 'alone'])
    it(`of an integration whose row somebody holds, or that is gone, keeps no other waiting: asked for ${how}`, async () => {
      const db = counted(database.db);
      const store = postgresStore(db, undefined, { timeoutMs: STALL_LIMIT_MS });
      const [held, gone, free, fresh] = await Promise.all(Array.from({ length: 4 }, newIntegration));
      assert.ok(held !== undefined && gone !== undefined && free !== undefined && fresh !== undefined);
      for (const id of [held, free]) await store.spend(id, 10, 1);
      await database.db.query(sql`delete from integrations where id = ${gone}`);
      const order: string[] = [];
      const spend = async (id: string, name: string) => {
        const { remaining } = await store.spend(id, 10, 1).finally(() => order.push(name));
        return remaining;
      };
      const holder = Promise.withResolvers<void>();
      const isHeld = Promise.withResolvers<void>();
      const holding = database.db.transaction(async (tx) => {
        await tx.query(sql`select from rate_windows where integration_id = ${held} for update`);
        isHeld.resolve();
        await holder.promise;
      });
      await isHeld.promise;
      const before = db.statements;
      const first = spend(held, 'held');
      while (how === 'alone' && db.statements === before) await nextRound();
      const together = [spend(free, 'free'), spend(free, 'free')];
      const refused = assert.rejects(spend(gone, 'gone'));
      assert.deepEqual(await Promise.all(together), [8, 7]);
      // The next ones don't even wait until it is clear that the row is held.
      const second = spend(held, 'held');
      assert.equal(await spend(free, 'free'), 6);
      assert.equal(order.includes('held'), false);
      holder.resolve();
      await holding;
      assert.deepEqual(await Promise.all([first, second]), [8, 7]);
      await refused;
      assert.equal(await spend(held, 'held'), 6);
      assert.equal(await spend(fresh, 'fresh'), 9);
    });

  it('is spent by two nodes for the same integrations without a deadlock, exactly to the cap', async () => {
    const nodes = [1, 2].map(() =>
      openDatabase({ address: database.address, poolSize: 2, onIdleError: () => assert.fail() }),
    );
    const ids = await Promise.all(Array.from({ length: 30 }, newIntegration));
    const admitted = new Map(ids.map((id) => [id, 0]));
    const spendMuch = async (db: Database, order: string[]) => {
      const store = postgresStore(db);
      for (let round = 0; round < 20; round++) {
        const answers = await Promise.all(order.map(async (id) => ({ id, ...(await store.spend(id, 25, 1)) })));
        for (const { id, isAllowed } of answers) admitted.set(id, (admitted.get(id) ?? 0) + Number(isAllowed));
      }
    };
    await Promise.all(nodes.map((db, index) => spendMuch(db, index === 0 ? ids : ids.toReversed())));
    assert.deepEqual([...admitted.values()], Array(30).fill(25));
    await Promise.all(nodes.map((db) => db.close()));
  });
});
