import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { explainRead } from '../../../test/harness/database/explain.ts';
import { measureResults } from '../../../test/harness/database/result-sizes.ts';
import { addCustomer, openShop, type Shop } from '../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { PIECE_BYTES } from '../../db/large-pages.ts';
import { sql } from '../../db/sql.ts';
import { listConflicts } from './customer-conflicts.ts';
import { exportCustomer } from './export-customer.ts';
import { mergeCustomers } from './merge-customers.ts';
import { previewMerge } from './merge-preview.ts';

const ORDERS = 8;
/** The bytes by which an order is made larger. */
const PADDING_BYTES = 320_000;
const DOCUMENT_BYTES_MAX = PADDING_BYTES + 2_000;
/** A conflict with its buyer and all that identifies it. */
const CONFLICT_BYTES_MAX = 1_000;

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

async function report(shop: Shop, prefix: string, buyer: object): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < ORDERS; index++) {
    const { status, body } = await shop.post('/v1/orders', { channel_order_id: `${prefix}-${index}`, customer: buyer });
    assert.equal(status, 201);
    ids.push(body.id);
  }
  return ids;
}

/** As if each order had many lines with long texts, which no compression makes small. */
async function enlarge(shop: Shop): Promise<void> {
  await world.db.query(sql`
    update orders set document = replace(document, '"shipping_amount":',
      '"padding":"' || padding || '","shipping_amount":')
    from (select string_agg(md5(i::text), '') as padding from generate_series(1, ${PADDING_BYTES / 32}::integer) i) random
    where integration_id = ${shop.integrationId}`);
}

/** Two customers who are the buyer of some orders, and two others who are that of as many. */
async function withConflicts() {
  const shop = await openShop(world);
  const kept = await addCustomer(shop, { email: 'kept@a.ch' });
  const merged = await addCustomer(shop, { phone: '+41227300001' });
  await addCustomer(shop, { email: 'other@a.ch' });
  await addCustomer(shop, { phone: '+41227300002' });
  const ofBoth = await report(shop, 'both', { email: 'kept@a.ch', phone: '+41227300001' });
  const ofOthers = await report(shop, 'others', { email: 'other@a.ch', phone: '+41227300002' });
  await enlarge(shop);
  return { shop, organizationId: shop.organizationId, kept, merged, ofBoth, ofOthers };
}

describe('large orders whose buyer is in conflict', () => {
  it('are listed and counted by a preview without their documents', async () => {
    const { organizationId, kept, merged, ofBoth, ofOthers } = await withConflicts();
    const { db, largest } = measureResults(world.db);
    const conflicts = await listConflicts(db, organizationId, [false], 2 * ORDERS);
    assert.deepEqual(
      conflicts.map(({ order }) => order.id),
      [...ofBoth, ...ofOthers].reverse(),
    );
    assert.equal((await previewMerge(db, organizationId, kept, merged)).resolvedOrders, ORDERS);
    assert.ok(largest() < 2 * ORDERS * CONFLICT_BYTES_MAX, `one query read ${largest()} bytes`);
  });

  it('are listed by the beginning of what the database stores', async () => {
    const { organizationId } = await withConflicts();
    const pagesOf = async (read: Parameters<typeof explainRead>[1]) =>
      (await explainRead(world.db, read)).reduce((sum, { pages }) => sum + pages, 0);
    const whole = await pagesOf((db) =>
      db.query(sql`select document::json -> 'customer' as buyer from orders where organization_id = ${organizationId}`),
    );
    const listed = await pagesOf((db) => listConflicts(db, organizationId, [false], 2 * ORDERS));
    assert.ok(listed < whole / 2, `${listed} pages were read, and ${whole} hold the documents`);
  });

  it('are read as a whole by a merge only if it changes them', async () => {
    const { shop, organizationId, kept, merged, ofBoth, ofOthers } = await withConflicts();
    const { db, total } = measureResults(world.db);
    await mergeCustomers({ ...world.channel, db }, TESTER, organizationId, kept, merged);
    assert.ok(total() < (ORDERS + 1) * DOCUMENT_BYTES_MAX, `the queries read ${total()} bytes`);
    const owners = await world.db.query(sql`
      select id, customer_id from orders where integration_id = ${shop.integrationId} order by id`);
    assert.deepEqual(owners, [
      ...ofBoth.map((id) => ({ id, customer_id: kept })),
      ...ofOthers.map((id) => ({ id, customer_id: null })),
    ]);
  });
});

describe('the export of a customer', () => {
  it('has pieces of a limited size, however large the orders and however many the sales', async () => {
    const shop = await openShop(world);
    const buyer = await addCustomer(shop, { email: 'buyer@a.ch' });
    const ids = await report(shop, 'large', { email: 'buyer@a.ch' });
    await enlarge(shop);
    ids.push(...(await report(shop, 'small', { email: 'buyer@a.ch' })));
    const titles = Array.from({ length: 1_000 }, (_, index) => `${index} ${'x'.repeat(490)}`);
    await world.db.query(sql`
      insert into sales (id, organization_id, is_test, created_at, title, stock_number, units, customer_id)
      select 'sal_' || lpad(position::text, 26, '0'), ${shop.organizationId}, false, now(), title, 'N', 1, ${buyer}
      from unnest(${titles}::text[]) with ordinality as sold (title, position)`);
    const { db, largest } = measureResults(world.db);
    const pieces: string[] = [];
    for await (const piece of await exportCustomer(db, shop.organizationId, buyer)) pieces.push(piece);
    const limit = PIECE_BYTES + DOCUMENT_BYTES_MAX;
    const largestPiece = Math.max(...pieces.map((piece) => Buffer.byteLength(piece)));
    assert.ok(largestPiece < limit, `a piece has ${largestPiece} bytes`);
    assert.ok(largest() < 1.2 * limit, `one query read ${largest()} bytes`);
    const { orders, counter_sales: sales } = JSON.parse(pieces.join(''));
    assert.deepEqual(
      orders.map(({ id }: { id: string }) => id),
      ids,
    );
    assert.deepEqual(
      sales.map(({ title }: { title: string }) => title),
      titles,
    );
  });
});
