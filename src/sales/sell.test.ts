import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { holdLock, lockClock, untilBlocked } from '../../test/harness/database/locks.ts';
import type { ApiClient } from '../../test/harness/http/api-client.ts';
import { observe, observeAll, type SecondChannel, secondChannel } from '../../test/harness/observe.ts';
import { assertRefused } from '../../test/harness/refusal.ts';
import { addCustomer, openShop } from '../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../test/harness/world.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../ids/new-id.ts';
import { setPublished } from '../inventory/publications.ts';
import { reserveUnits } from '../inventory/units/movements.ts';
import { mergeCustomers } from './customers/merge-customers.ts';
import { deleteItem } from './delete-item.ts';
import { eraseCustomer } from './erasure/erase-customer.ts';
import { runErasures } from './erasure/run-erasures.ts';
import { changeSale, sellUnits, voidSale } from './sell.ts';

describe('selling over the counter', () => {
  let world: World;
  let dealer: Dealer;
  let second: SecondChannel;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    second = await secondChannel(world, dealer);
  });
  after(() => world.stop());

  const sell = (id: string, units = 1) => sellUnits(world.channel, TESTER, dealer.organizationId, id, units);
  const undo = (saleId: string) => voidSale(world.channel, TESTER, dealer.organizationId, saleId);
  const both = (): [ApiClient, ApiClient] => [dealer.api, second.api];
  async function publishBoth(item: Parameters<typeof publishNew>[2]): Promise<string> {
    const id = await publishNew(world, dealer, item);
    await setPublished(world.channel, TESTER, dealer.organizationId, second.integrationId, [id], true);
    return id;
  }

  it('a listing is sold with its last unit, and in stock again when the sale is voided', async () => {
    const id = await publishBoth(watch());
    let saleId = '';
    for (const seen of await observeAll(both(), async () => {
      saleId = await sell(id);
    })) {
      assert.deepEqual(seen.types, ['listing.sold']);
      assert.deepEqual(seen.events[0]?.data, { object: { id, object: 'listing' } });
      assert.equal(seen.documents.get(id).status, 'sold');
      assert.equal(seen.documents.get(id).quantity, 0);
    }
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).body.status, 'sold');
    for (const seen of await observeAll(both(), () => undo(saleId))) {
      assert.deepEqual(seen.types, ['listing.in_stock']);
      assert.equal(seen.documents.get(id).status, 'active');
    }
  });

  it('a listing of several units is updated until the last', async () => {
    const id = await publishNew(world, dealer, watch({ units: 2 }));
    assert.deepEqual((await observe(dealer.api, () => sell(id))).types, ['listing.updated']);
    assert.deepEqual((await observe(dealer.api, () => sell(id))).types, ['listing.sold']);
  });

  it('a part moves, alone and without part.updated', async () => {
    const id = await publishBoth(part({ units: 3 }));
    let saleId = '';
    for (const seen of await observeAll(both(), async () => {
      saleId = await sell(id, 2);
    })) {
      assert.deepEqual(seen.types, ['part.in_stock']);
      assert.deepEqual(seen.events[0]?.data.object, { id, object: 'part', quantity: 1 });
    }
    for (const seen of await observeAll(both(), () => sell(id))) assert.deepEqual(seen.types, ['part.sold_out']);
    for (const seen of await observeAll(both(), () => undo(saleId))) {
      assert.deepEqual(seen.types, ['part.in_stock']);
      assert.deepEqual(seen.events[0]?.data.previous_attributes, { quantity: 0 });
    }
  });

  it('refuses more than is free to sell', async () => {
    const id = await publishNew(world, dealer, watch());
    await reserveUnits(world.channel, TESTER, dealer.organizationId, id, 1);
    const seen = await observe(dealer.api, async () => {
      await assertRefused(sell(id), 'not_enough_units', 'units');
      for (const units of [0, -1, 0.5]) await assertRefused(sell(id, units), 'invalid_input', 'units');
    });
    assert.deepEqual([seen.types, seen.changed], [[], []]);
  });

  it('racing for the last unit sells it once', async () => {
    const id = await publishBoth(watch());
    const [seen] = await observeAll(both(), async () => {
      const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => sell(id)));
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    });
    assert.deepEqual(seen.types, ['listing.sold']);
  });

  it('voids once, however often and fast it is asked', async () => {
    const id = await publishNew(world, dealer, part({ units: 5 }));
    const saleId = await sell(id, 5);
    const seen = await observe(dealer.api, async () => {
      const outcomes = await Promise.allSettled([undo(saleId), undo(saleId), undo(saleId)]);
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    });
    assert.equal(seen.documents.get(id).quantity, 5);
    await assertRefused(undo(saleId), 'already_voided');
  });

  it('refuses another dealer’s item and sale, and unknown ones', async () => {
    const other = await world.dealer();
    const theirs = await publishNew(world, other, watch());
    const theirSale = await sellUnits(world.channel, TESTER, other.organizationId, theirs, 1);
    for (const id of [theirs, newId('listing'), 'nonsense']) await assertRefused(sell(id), 'not_found');
    for (const id of [theirSale, newId('sale'), 'nonsense']) await assertRefused(undo(id), 'not_found');
  });

  it('keeps the sale of an item that is deleted, and voids it without it', async () => {
    const id = await publishNew(world, dealer, watch());
    const saleId = await sell(id);
    await deleteItem(world.channel, TESTER, dealer.organizationId, id);
    const seen = await observe(dealer.api, () => undo(saleId));
    assert.deepEqual([seen.types, seen.changed], [[], []]);
    await assertRefused(undo(saleId), 'already_voided');
  });

  it('voids while the item is being deleted, in either order', async () => {
    for (let run = 0; run < 5; run++) {
      const id = await publishNew(world, dealer, part({ units: 1 }));
      const saleId = await sell(id);
      await Promise.all([undo(saleId), deleteItem(world.channel, TESTER, dealer.organizationId, id)]);
      const [sale] = await world.db.query<{ status: string; item_id: string | null }>(sql`
        select status, item_id from sales where id = ${saleId}`);
      assert.deepEqual(sale, { status: 'voided', item_id: null });
    }
  });
});

describe('the buyer of a sale over the counter', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  /** A dealer with an item, and what may be done with one of its customers. */
  async function counter() {
    const shop = await openShop(world);
    const { organizationId } = shop;
    const itemId = await publishNew(world, shop, part({ units: 2 }));
    const customers = [await addCustomer(shop, { email: 'a@b.ch' }), await addCustomer(shop, { email: 'c@d.ch' })];
    const [kept = '', buyer = ''] = customers;
    const sell = (terms: { customerId?: string } = {}) =>
      sellUnits(world.channel, TESTER, organizationId, itemId, 1, terms);
    return {
      itemId,
      kept,
      buyer,
      sell,
      change: (saleId: string) => changeSale(world.channel, TESTER, organizationId, saleId, { customerId: buyer }),
      merge: () => mergeCustomers(world.channel, TESTER, organizationId, kept, buyer),
      async erase() {
        await eraseCustomer(world.channel, TESTER, organizationId, buyer);
        await runErasures(world.channel, undefined, { pauseMs: 0, settleMs: 0 });
      },
      async buyerOf(saleId: string) {
        const [sale] = await world.db.query<{ customerId: string | null }>(sql`
          select customer_id as "customerId" from sales where id = ${saleId}`);
        return sale?.customerId;
      },
    };
  }
  type Counter = Awaited<ReturnType<typeof counter>>;

  /** Both ways to name a buyer, up to the lock that they wait for. */
  const WRITES = {
    async made({ itemId, sell, buyer }: Counter) {
      const lock = await holdLock(world.db, 'select from items where id = $1 for update', [itemId]);
      return { lock, written: sell({ customerId: buyer }) };
    },
    async changed({ sell, change }: Counter) {
      const saleId = await sell();
      const lock = await holdLock(world.db, 'select from sales where id = $1 for update', [saleId]);
      return { lock, written: change(saleId).then(() => saleId) };
    },
  };

  for (const [name, write] of Object.entries(WRITES)) {
    for (const end of ['merge', 'erase'] as const) {
      it(`is never one who is gone: ${end} waits while the sale is being ${name}`, async () => {
        const dealer = await counter();
        const { lock, written } = await write(dealer);
        await untilBlocked(world.db);
        const ended = dealer[end]();
        await Promise.race([ended, untilBlocked(world.db, 2)]);
        await lock.release();
        const saleId = await written;
        await ended;
        assert.equal(await dealer.buyerOf(saleId), end === 'merge' ? dealer.kept : null);
      });
    }
  }

  it('is merged while the sale is voided, and neither waits for what the other holds', async () => {
    const shop = await openShop(world);
    const { organizationId } = shop;
    const itemId = await publishNew(world, shop, part({ units: 2 }));
    const kept = await addCustomer(shop, { email: 'a@b.ch' });
    const merged = await addCustomer(shop, { email: 'c@d.ch' });
    await shop.post('/v1/orders', { channel_order_id: 'SO-1', customer: { email: 'c@d.ch' } });
    const saleId = await sellUnits(world.channel, TESTER, organizationId, itemId, 1, { customerId: merged });
    let attempts = 0;
    const transaction: typeof world.db.transaction = (work, options) =>
      world.db.transaction(async (tx) => {
        attempts += 1;
        return await work(tx);
      }, options);
    const counted = { ...world.channel, db: { ...world.db, transaction } };
    const clock = await lockClock(world.db, shop.integrationId);
    const merging = mergeCustomers(counted, TESTER, organizationId, kept, merged);
    await untilBlocked(world.db);
    const voiding = voidSale(counted, TESTER, organizationId, saleId);
    await untilBlocked(world.db, 2);
    await clock.release();
    await Promise.all([merging, voiding]);
    assert.equal(attempts, 2, 'a deadlock would start one of them over');
    const [sale] = await world.db.query(sql`
      select status, customer_id as "customerId" from sales where id = ${saleId}`);
    assert.deepEqual(sale, { status: 'voided', customerId: kept });
  });

  it('is refused once merged or erased, and the sale stays as it was', async () => {
    for (const end of ['merge', 'erase'] as const) {
      const dealer = await counter();
      const saleId = await dealer.sell();
      await dealer[end]();
      await assertRefused(dealer.sell({ customerId: dealer.buyer }), 'not_found', 'customerId');
      await assertRefused(dealer.change(saleId), 'not_found', 'customerId');
      assert.equal(await dealer.buyerOf(saleId), null);
    }
  });
});
