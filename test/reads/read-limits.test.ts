import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openDatabase } from '../../src/db/database.ts';
import { cloneDatabase } from '../harness/database/database.ts';
import { holdLock } from '../harness/database/locks.ts';
import type { ApiClient, ApiResponse } from '../harness/http/api-client.ts';
import { addShop, openShop, type Shop } from '../harness/shop.ts';
import { startWorld, type World } from '../harness/world.ts';

const CONNECTIONS = 8;
const ATTACKS = 40;
const NEIGHBOURS = 8;
/** Long enough for the neighbour's requests to be answered on a busy machine while the attack still waits. */
const READ_WAIT_MS = 5_000;

/** Each list with a filter of its own, and the table that it reads; locked, the table makes its reads as slow as can be. */
const LISTS = [
  { path: '/v1/events?type=order.cancelled', table: 'events', other: '/v1/orders' },
  { path: '/v1/events?created_after=2026-01-01', table: 'events', other: '/v1/listings' },
  { path: '/v1/orders?status=fulfilled', table: 'orders', other: '/v1/events' },
  { path: '/v1/listings?status=sold,reserved', table: 'channel_documents', other: '/v1/orders' },
  { path: '/v1/parts?updated_after=2026-01-01&status=any', table: 'channel_documents', other: '/v1/events' },
];

describe('reads of one dealer', () => {
  let world: World;
  /** All integrations of one dealer. */
  let attackers: Shop[];
  let neighbour: Shop;
  before(async () => {
    const database = await cloneDatabase({ poolSize: CONNECTIONS });
    const admissionDb = openDatabase({ address: database.address, poolSize: 2, onIdleError: () => {} });
    world = await startWorld({
      database: {
        ...database,
        drop: async () => {
          await admissionDb.close();
          await database.drop();
        },
      },
      admissionDb,
      readLimits: { waitLimitMs: READ_WAIT_MS },
    });
    const first = await openShop(world);
    attackers = [first, await addShop(world, first), await addShop(world, first), await addShop(world, first)];
    neighbour = await openShop(world);
  });
  after(() => world.stop());

  function attackWith(index: number): ApiClient {
    return (attackers[index % attackers.length] as Shop).api;
  }

  for (const { path, table, other } of LISTS) {
    it(`that hang in ${path} leave a neighbour connections, and those that waited too long are overloaded`, async (t) => {
      const held = await holdLock(world.db, `lock table ${table} in access exclusive mode`, []);
      let isHeld = true;
      const release = async () => {
        if (isHeld) await held.release();
        isHeld = false;
      };
      t.after(release);
      // Pages of different lengths, so that none is the answer to another.
      const attack = Array.from({ length: ATTACKS }, (_, index) => attackWith(index).get(`${path}&limit=${index + 1}`));
      const settled = Promise.all(attack);
      const served = await Promise.all([
        ...Array.from({ length: NEIGHBOURS }, (_, index) => neighbour.api.get(`${other}?limit=${index + 1}`)),
        ...Array.from({ length: NEIGHBOURS }, () => neighbour.api.get('/v1/me')),
      ]);
      assert.deepEqual(countByStatus(served), { 200: 2 * NEIGHBOURS });
      // The first refusal comes while the table is still locked; whoever has a connection by then is answered after it.
      const refused = await Promise.race(attack.map((one) => refusalOf(one)));
      assert.equal(refused.body.error.code, 'overloaded');
      assert.equal(refused.body.error.type, 'api_error');
      assert.equal(refused.headers['retry-after'], '1');
      await release();
      const counts = countByStatus(await settled);
      assert.equal((counts[200] ?? 0) + (counts[503] ?? 0), ATTACKS);
      assert.ok((counts[200] ?? 0) >= 1, JSON.stringify(counts));
      assert.equal((await attackWith(0).get(`${path}&limit=200`)).status, 200);
    });
  }

  it('are as many as its share of the connections, however many it sends with however many integrations', async (t) => {
    const held = await holdLock(world.db, 'lock table orders in access exclusive mode', []);
    t.after(() => held.release());
    const attack = Array.from({ length: ATTACKS }, (_, index) =>
      attackWith(index).get(`/v1/orders?limit=${100 + index}`),
    );
    t.after(() => Promise.allSettled(attack));
    await Promise.race(attack.map((one) => refusalOf(one)));
    const { rows } = await withSession(world, (query) =>
      query(`select count(*)::integer as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`),
    );
    assert.deepEqual(rows, [{ waiting: 1 }]);
  });
});

/** Never settles for an answer that is no refusal. */
async function refusalOf(answer: Promise<ApiResponse>): Promise<ApiResponse> {
  const response = await answer;
  return response.status === 503 ? response : await new Promise<never>(() => {});
}

function countByStatus(answers: ApiResponse[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function withSession<Result>(
  world: World,
  use: (query: (text: string) => Promise<Result>) => Promise<Result>,
): Promise<Result & { rows: unknown[] }> {
  const session = await world.db.connect();
  try {
    return (await use((text) => session.query(text) as Promise<Result>)) as Result & { rows: unknown[] };
  } finally {
    await session.end();
  }
}
