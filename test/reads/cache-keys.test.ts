import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createByteCache } from '../../src/channel/reads/byte-cache.ts';
import type { Database } from '../../src/db/database.ts';
import { cloneDatabase } from '../harness/database/database.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { startWorld, type World } from '../harness/world.ts';

describe('the key of a cached answer', () => {
  let world: World;
  let shop: Shop;
  /** Pages that were read from the database. */
  let pagesRead = 0;
  before(async () => {
    const database = await cloneDatabase();
    const watched: Database = {
      ...database.db,
      query: (statement, limits) => {
        if (/from (events|orders|channel_documents)/.test(statement.text)) pagesRead += 1;
        return database.db.query(statement, limits);
      },
    };
    world = await startWorld({ database: { ...database, db: watched }, db: watched });
    shop = await openShop(world);
    await shop.post('/v1/orders', { channel_order_id: 'SO-1' });
  });
  after(() => world.stop());
  beforeEach(() => {
    pagesRead = 0;
  });

  for (const list of ['/v1/listings', '/v1/parts', '/v1/orders', '/v1/events']) {
    it(`is what was asked of ${list}, not how it was written`, async () => {
      const time = list === '/v1/events' ? 'created_after' : 'updated_after';
      for (const query of [
        `limit=7&${time}=2026-01-01`,
        `${time}=2026-01-01&limit=7`,
        `limit=007&${time}=2026-01-01T00:00:00Z`,
        `limit=7&${time}=2026-01-01T02:00:00%2B02:00`,
        `limit=7&${time}=2026-01-01&x=${'y'.repeat(15_000)}`,
        `limit=7&${time}=2026-01-01&${'z'.repeat(15_000)}`,
      ]) {
        assert.equal((await shop.api.get(`${list}?${query}`)).status, 200, query.slice(0, 80));
      }
      assert.equal(pagesRead, 1);
    });
  }

  it('is the id of a single object, whatever parameters are sent with it', async () => {
    const [order] = (await shop.api.get('/v1/orders')).body.data;
    pagesRead = 0;
    for (let number = 0; number < 5; number++) await shop.api.get(`/v1/orders/${order.id}?x=${number}`);
    assert.equal(pagesRead, 1);
  });
});

describe('the memory of kept bytes', () => {
  it('counts the keys', () => {
    const cache = createByteCache<{ size: number }>(100_000);
    const keys = Array.from({ length: 20 }, (_, index) => `${index} ${'k'.repeat(15_000)}`);
    for (const key of keys) cache.set(key, { size: 10 });
    const kept = keys.filter((key) => cache.get(key) !== undefined);
    assert.ok(kept.length >= 1 && kept.length * 15_000 <= 100_000, `${kept.length} are kept`);
  });
});
