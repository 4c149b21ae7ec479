import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { countRoundTrips } from '../../../../test/harness/database/round-trips.ts';
import { freshKey, openShop, type Shop } from '../../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';

/**
 * How many statements a write takes, begin and commit included, and in how many round trips they go. A busy shop's writes
 * share both, and each round trip costs the service and the server more than most statements do.
 *
 * If a number rises, find out whether the new statement can be deferred, or go with another (`src/db/pipeline/pipeline.ts`).
 */
const WRITES: { write: string; statements: number; roundTrips: number; send: (shop: Shop, itemId: string) => Send }[] =
  [
    {
      write: 'a ping',
      statements: 10,
      roundTrips: 2,
      send: () => ({ path: '/v1/test/webhook_ping', body: {} }),
    },
    {
      write: 'a new customer',
      statements: 11,
      roundTrips: 3,
      send: () => ({
        path: '/v1/customers',
        body: { external_id: freshKey()['idempotency-key'], email: 'a@example.ch' },
      }),
    },
    {
      write: 'an order of a listing',
      statements: 19,
      roundTrips: 4,
      send: (_, itemId) => ({
        path: '/v1/orders',
        body: { channel_order_id: freshKey()['idempotency-key'], lines: [{ listing_id: itemId, quantity: 1 }] },
      }),
    },
  ];

type Send = { path: string; body: object };

describe('the statements of a write', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  async function transactionOf(shop: Shop, { path, body }: Send): Promise<string[][]> {
    const trips = countRoundTrips(world.db);
    try {
      const answer = await shop.post(path, body);
      assert.ok(answer.status < 300, answer.text);
    } finally {
      trips.stop();
    }
    const transactions = trips
      .transactions()
      .filter((one) => one.flat().some((text) => text.includes('idempotency_records')));
    assert.equal(transactions.length, 1);
    return transactions[0] ?? [];
  }

  const shown = (trips: string[][]) =>
    trips
      .map((statements) => statements.map((text) => text.replace(/\s+/g, ' ').slice(0, 60)).join('\n   '))
      .join('\n-> ');

  for (const { write, statements, roundTrips, send } of WRITES) {
    it(`of ${write} are ${statements} in ${roundTrips} round trips`, async () => {
      const shop = await openShop(world);
      const itemId = await publishNew(world, shop, watch({ units: 5 }));
      const trips = await transactionOf(shop, send(shop, itemId));
      assert.deepEqual([trips.flat().length, trips.length], [statements, roundTrips], shown(trips));
    });
  }

  it('of a cancellation are 22 in 5 round trips', async () => {
    const shop = await openShop(world);
    const itemId = await publishNew(world, shop, watch({ units: 5 }));
    const order = await shop.post('/v1/orders', {
      channel_order_id: 'SO-1',
      lines: [{ listing_id: itemId, quantity: 1 }],
    });
    const trips = await transactionOf(shop, { path: `/v1/orders/${order.body.id}/cancel`, body: {} });
    assert.deepEqual([trips.flat().length, trips.length], [22, 5], shown(trips));
  });

  it('of a thousand customers in one call are not many more than those of one', async () => {
    const shop = await openShop(world);
    const customers = Array.from({ length: 1_000 }, (_, index) => ({
      email: `c${index}@example.ch`,
      first_name: 'Ana',
    }));
    const trips = await transactionOf(shop, { path: '/v1/customers/bulk', body: { customers } });
    assert.deepEqual([trips.flat().length, trips.length], [9, 3], shown(trips));
  });
});
