import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { cloneDatabase, type TestDatabase } from '../../test/harness/database/database.ts';
import { until } from '../../test/harness/database/locks.ts';
import { addShop, openShop, type Shop } from '../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../test/harness/stock.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { DomainError } from '../contract/domain-error.ts';
import { openDatabase } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { editItem } from '../inventory/items/item-operations.ts';
import { setPublished } from '../inventory/publications.ts';
import { moveUnits } from '../inventory/units/movements.ts';
import { assignCustomer } from './customers/assign-customer.ts';
import { mergeCustomers } from './customers/merge-customers.ts';
import { cancelSale, confirmOrder, dismissOrder, fulfilOrder, matchLine } from './orders/order-operations.ts';
import { expireDueReservations } from './reservations/expire-reservations.ts';
import { sellUnits } from './sell.ts';
import { deleteTestData } from './test-mode/test-data.ts';

const ACTORS = 8;
const ACTIONS = 60;

/**
 * Everybody at once on the same few items, orders and people. Whatever the order in which it happens: no deadlock, no
 * fault but a refusal, and at the end the books agree.
 */
describe('all writers at once', () => {
  let database: TestDatabase;
  let world: World;
  let shops: Shop[];
  let test: Shop;
  let items: string[];
  before(async () => {
    database = await cloneDatabase();
    const { address } = database;
    const db = openDatabase({ address, poolSize: 12, onIdleError: () => {} });
    world = await startWorld({ database: { db, address, drop: () => db.close() } });
    const first = await openShop(world);
    shops = [first, await addShop(world, first)];
    test = await addShop(world, first, { isTestMode: true });
    items = [];
    for (let index = 0; index < 3; index++) {
      items.push(
        await publishNew(world, first, watch({ units: 3 })),
        await publishNew(world, first, part({ units: 9 })),
      );
    }
    for (const { integrationId } of [...shops, test]) {
      await setPublished(world.channel, TESTER, first.organizationId, integrationId, items, true);
    }
  });
  after(() => database.drop());

  const pick = <Value>(values: Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value;
  const organizationId = () => shops[0]?.organizationId ?? '';
  const orders: { id: string; shop: Shop }[] = [];
  const people: string[] = [];
  let reported = 0;

  function lines(): object[] {
    return Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => {
      const id = pick(items);
      return id.startsWith('lst_') ? { listing_id: id } : { part_id: id, quantity: 1 + Math.floor(Math.random() * 2) };
    });
  }

  async function report(shop: Shop): Promise<void> {
    reported += 1;
    const customer = { email: `p${Math.floor(Math.random() * 5)}@example.ch` };
    const answer = await shop.post('/v1/orders', { channel_order_id: `SO-${reported}`, customer, lines: lines() });
    assert.equal(answer.status, 201, answer.text);
    orders.push({ id: answer.body.id, shop });
    if (answer.body.customer_id !== null) people.push(answer.body.customer_id);
  }

  const reservations: { shop: Shop; id: string; listing_id: string; part_id: string; quantity: number }[] = [];
  async function reserve(shop: Shop): Promise<void> {
    const [line] = lines();
    const { status, body, text } = await shop.post('/v1/reservations', line);
    assert.ok([201, 409].includes(status), text);
    if (status === 409) return;
    const { id, listing_id, part_id, quantity } = body;
    reservations.push({ shop, id, listing_id, part_id, quantity });
  }

  const dealer = () => [world.channel, TESTER, organizationId()] as const;
  const actions: (() => Promise<unknown>)[] = [
    () => report(pick(shops)),
    () => report(pick(shops)),
    () => report(test),
    async () => {
      const { id, shop } = pick(orders);
      const { status, text } = await shop.post(`/v1/orders/${id}/cancel`);
      // A test order may be deleted by now.
      assert.ok([200, 409].includes(status) || (shop === test && status === 404), text);
    },
    () => confirmOrder(...dealer(), pick(orders).id),
    () => fulfilOrder(...dealer(), pick(orders).id),
    () => dismissOrder(...dealer(), pick(orders).id, null),
    () => cancelSale(...dealer(), pick(orders).id),
    () => matchLine(...dealer(), pick(orders).id, { lineId: null, itemId: pick(items), units: 1 }),
    () => sellUnits(...dealer(), pick(items), 1),
    () => moveUnits(...dealer(), pick(items), 'restock', 2),
    () => editItem(...dealer(), pick(items), { priceAmount: 1_000 + Math.floor(Math.random() * 1_000) }),
    () => mergeCustomers(...dealer(), pick(people), pick(people)),
    () => assignCustomer(...dealer(), pick(orders).id, pick([...people, null])),
    () => deleteTestData(...dealer(), test.integrationId),
    () => reserve(pick([...shops, test])),
    () => reserve(pick(shops)),
    async () => {
      const { shop, id, ...item } = pick(reservations);
      const lines = [{ ...item, reservation_id: id }];
      reported += 1;
      const { status, body, text } = await shop.post('/v1/orders', { channel_order_id: `SO-${reported}`, lines });
      assert.equal(status, 201, text);
      orders.push({ id: body.id, shop });
    },
    async () => {
      const { shop, id } = pick(reservations);
      const { status, text } = await shop.post(`/v1/reservations/${id}/release`);
      assert.ok([200, 409].includes(status) || (shop === test && status === 404), text);
    },
    async () => {
      const { shop, id } = pick(reservations);
      const { status, text } = await shop.post(`/v1/reservations/${id}/extend`, { ttl_seconds: 60 });
      assert.ok([200, 409].includes(status) || (shop === test && status === 404), text);
    },
    async () => {
      await world.db.query(sql`update reservations set expires_at = now() where id = ${pick(reservations).id}`);
      await expireDueReservations(world.channel);
    },
    () => sellUnits(...dealer(), pick(items), 1, { releasesReservations: true }),
    async () => {
      const customers = [1, 2, 3, 4].map((person) => ({
        email: `p${person}@example.ch`,
        first_name: `${Math.random()}`,
      }));
      const body = { customers: Math.random() < 0.5 ? customers : customers.toReversed() };
      const { status, text } = await pick([...shops, test]).post('/v1/customers/bulk', body);
      assert.equal(status, 200, text);
    },
  ];

  it('end without a fault, and the books agree', async () => {
    for (const shop of [...shops, test]) await report(shop);
    for (const shop of [...shops, test]) await reserve(shop);
    await Promise.all(
      Array.from({ length: ACTORS }, async () => {
        for (let action = 0; action < ACTIONS; action++) {
          await pick(actions)().catch((error: unknown) => {
            if (!(error instanceof DomainError)) throw error;
          });
        }
      }),
    );
    await assertBooks();
  });

  it('have met no deadlock', async () => {
    // A session reports its counters when it ends, so the app's own are ended first.
    await world.stop();
    await until(async () => {
      const [row] = await database.db.query<{ sessions: number }>(sql`
        select count(*) as sessions from pg_stat_activity where datname = current_database()`);
      return row?.sessions === 1;
    }, 'the sessions of the app never ended');
    const [row] = await database.db.query<{ deadlocks: number }>(sql`
      select deadlocks from pg_stat_database where datname = current_database()`);
    assert.equal(row?.deadlocks, 0);
  });

  async function assertBooks(): Promise<void> {
    const held = await world.db.query(sql`
      select i.id from items i
      where i.reserved_units <> (select coalesce(sum(l.units), 0) from order_lines l where l.item_id = i.id and l.is_holding)
        + (select coalesce(sum(r.units), 0) from reservations r
          where r.item_id = i.id and r.status = 'active' and not r.is_test)`);
    assert.deepEqual(held, [], 'units are held for nobody');
    const unlike = await world.db.query(sql`
      select d.integration_id, i.id from items i join channel_documents d on d.item_id = i.id
      where d.quantity <> i.units - i.reserved_units`);
    assert.deepEqual(unlike, [], 'a channel shows another quantity');
    const statuses = await world.db.query(sql`
      select o.id from orders o where o.status <> (o.document::jsonb ->> 'status')
        or o.customer_id is distinct from (o.document::jsonb ->> 'customer_id')
        or (o.document::jsonb ->> 'updated_at')::timestamptz <> o.updated_at`);
    assert.deepEqual(statuses, [], 'an order reads other than it is');
    const sales = await world.db.query(sql`
      select s.id from sales s left join order_lines l on l.sale_id = s.id
        left join orders o on o.integration_id = l.integration_id and o.id = l.order_id
      where (s.status = 'completed' and o.id is not null and o.status not in ('matched', 'fulfilled'))
        or (s.status = 'voided' and l.id is not null) or (s.is_test and l.id is null and s.status = 'completed')`);
    assert.deepEqual(sales, [], 'a sale and its order disagree');
    const newest = await world.db.query(sql`
      select c.integration_id from channel_clocks c
      where c.stamp < greatest(
        (select max(updated_at) from orders o where o.integration_id = c.integration_id),
        (select max(updated_at) from reservations r where r.integration_id = c.integration_id),
        (select max(updated_at) from channel_documents d where d.integration_id = c.integration_id))`);
    assert.deepEqual(newest, [], 'something is newer than its clock');
  }
});
