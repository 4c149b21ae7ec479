import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ORDER_TABS } from '../../src/contract/dashboard/orders/order-labels.ts';
import { STOCK_SORTS } from '../../src/contract/dashboard/stock/stock.ts';
import type { Database } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { countApiRequests, listApiRequests, type RequestFilter } from '../../src/http/logging/api-requests.ts';
import { countStock, listStock, matchSearch, type StockFilter } from '../../src/inventory/lists/stock-list.ts';
import {
  countDealerOrders,
  findOrderIds,
  listDealerOrders,
  type OrderFilter,
} from '../../src/sales/orders/dealer/list-orders.ts';
import {
  countDealerDeliveries,
  type DeliveryFilter,
  EVERY_DELIVERY,
  listDealerDeliveries,
} from '../../src/webhooks/dealer/list-deliveries.ts';
import {
  countDealerEvents,
  EVERY_EVENT,
  type EventFilter,
  listDealerEvents,
} from '../../src/webhooks/dealer/list-events.ts';
import { explainRead } from '../harness/database/explain.ts';
import {
  fillEvents,
  fillOrders,
  fillRequests,
  fillStock,
  itemIdOf,
  RARE_LOCATION,
} from '../harness/database/many-rows.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { startWorld, type World } from '../harness/world.ts';

/** Of each list; by hand more, and each read says what it takes: `LIST_ROWS=100000 npx node --test …` without a time limit. */
const ROWS = Number(process.env.LIST_ROWS ?? 20_000);
const LIMIT = 51;
const SUITE_LIMIT_MS = 30 * 60_000;
/**
 * For a first page with its count and everything that its rows show. A list that is read to its end takes more: 20,000 items
 * have 2,900 pages, the others 500 to 1,800 and those of their indexes.
 */
const PAGES_LIMITS = { stock: 2_200, orders: 1_500, deliveries: 1_200, events: 1_200, 'API requests': 450 };
/** A word of many orders: some hundreds of them are looked at by their ids. */
const COMMON_NAME_PAGES_LIMIT = 3_500;

describe('a page of the dashboard’s lists and its count', { timeout: SUITE_LIMIT_MS }, () => {
  let world: World;
  let shop: Shop;
  let locations: Map<string, string>;
  before(async () => {
    world = await startWorld({ dashboard: null });
    shop = await openShop(world);
    for (const fill of [fillStock, fillOrders, fillEvents, fillRequests]) await fill(world.db, shop, ROWS);
    const rows = await world.db.query<{ id: string; name: string }>(sql`
      select id, name from locations where organization_id = ${shop.organizationId}`);
    locations = new Map(rows.map(({ id, name }) => [name, id]));
  });
  after(() => world.stop());

  /** Declares one test for each read; what it reads is said only when the tests run. */
  function each<Asked>(
    list: keyof typeof PAGES_LIMITS,
    asked: Record<string, () => Asked>,
    read: (db: Database, what: Asked) => Promise<unknown>,
    limit = PAGES_LIMITS[list],
  ): void {
    for (const [name, what] of Object.entries(asked)) {
      it(`of ${list}, ${name}, reads few pages`, async (t) => {
        const seen = await explainRead(world.db, (db) => read(db, what()));
        const pages = seen.reduce((sum, each) => sum + each.pages, 0);
        t.diagnostic(`${list}, ${name}: ${pages} pages (${seen.map((each) => each.pages).join(', ')})`);
        if (process.env.LIST_PLANS !== undefined) t.diagnostic(JSON.stringify(seen, null, 1));
        assert.ok(pages <= limit, `${pages} pages: ${JSON.stringify(seen, null, 1)}`);
      });
    }
  }

  const stock = (filter: Partial<StockFilter> = {}) => ({
    organizationId: shop.organizationId,
    kind: 'listing' as const,
    ...filter,
  });
  const band = { priceFrom: 500_000, priceTo: 700_000 };
  each<StockFilter>(
    'stock',
    {
      all: () => stock(),
      'by a word of a quarter': () => stock({ search: 'rolex' }),
      'by a word of a twelfth': () => stock({ search: 'submariner' }),
      'by a prefix of two words': () => stock({ search: 'se' }),
      'by a prefix of every stock number': () => stock({ search: 's00' }),
      'by a rare word': () => stock({ search: 'tropical' }),
      'by two words': () => stock({ search: 'rolex daytona' }),
      'by a word that nothing has': () => stock({ search: 'zzzz' }),
      'by a word and a rare status': () => stock({ search: 'rolex', status: 'reserved' }),
      'by status': () => stock({ status: 'in_stock' }),
      'by a rare status': () => stock({ status: 'reserved' }),
      hidden: () => stock({ isHidden: true }),
      'on a channel': () => stock({ integrationId: shop.integrationId }),
      'on no channel': () => stock({ isOnNoChannel: true }),
      'that needs work': () => stock({ needsWork: true }),
      'of a brand': () => stock({ brand: 'Rolex' }),
      'at a location': () => stock({ locationId: locations.get('Safe') ?? '' }),
      'at a rare location': () => stock({ locationId: locations.get(RARE_LOCATION) ?? '' }),
      'in a narrow price band': () => stock(band),
      'in a wide price band': () => stock({ priceFrom: 500_000, priceTo: 3_500_000 }),
      'of a brand, a status and a price band': () => stock({ brand: 'Rolex', status: 'in_stock', ...band }),
    },
    readStock('-created'),
  );
  for (const sort of STOCK_SORTS) {
    each<StockFilter>(
      'stock',
      { [`sorted by ${sort}`]: () => stock(), [`sorted by ${sort} in a narrow price band`]: () => stock(band) },
      readStock(sort),
    );
  }

  const orders = (filter: Partial<OrderFilter> = {}): OrderFilter => ({
    organizationId: shop.organizationId,
    integrationId: null,
    statuses: ORDER_TABS.all,
    isTest: [false],
    from: null,
    to: null,
    search: '',
    hasConflict: false,
    customerId: null,
    ...filter,
  });
  each<OrderFilter>(
    'orders',
    {
      all: () => orders(),
      'in the queue': () => orders({ statuses: ORDER_TABS.queue }),
      'of a rare status': () => orders({ statuses: ORDER_TABS.cancelled }),
      'of a channel': () => orders({ integrationId: shop.integrationId }),
      'of test mode': () => orders({ isTest: [true] }),
      'in conflict': () => orders({ hasConflict: true }),
      'by a name of a quarter and a rare status': () => orders({ search: 'ada', statuses: ORDER_TABS.cancelled }),
      'by a prefix of every buyer': () => orders({ search: 'buyer' }),
      'by a rare name': () => orders({ search: 'quixote' }),
      'by the beginning of a number': () => orders({ search: 'SO-42' }),
    },
    readOrders,
  );
  each('orders', { 'by a name of a quarter': () => orders({ search: 'ada' }) }, readOrders, COMMON_NAME_PAGES_LIMIT);

  const deliveries = (filter: Partial<DeliveryFilter> = {}) => ({
    ...EVERY_DELIVERY,
    integrationIds: [shop.integrationId],
    ...filter,
  });
  each<DeliveryFilter>(
    'deliveries',
    {
      all: () => deliveries(),
      'that succeeded': () => deliveries({ statuses: ['succeeded'] }),
      'that are dead letters': () => deliveries({ statuses: ['dead_letter'] }),
      'that are held': () => deliveries({ statuses: ['held'] }),
      'that are pending': () => deliveries({ statuses: ['pending'] }),
      'of a type': () => deliveries({ types: ['listing.sold'] }),
      'of a rare type': () => deliveries({ types: ['part.updated'] }),
      'of an item': () => deliveries({ objectIds: [itemIdOf(shop, 501)] }),
      'answered 4xx': () => deliveries({ response: { from: 400, to: 499 } }),
    },
    async (db, filter) => {
      await listDealerDeliveries(db, filter, { from: null, limit: LIMIT });
      await countDealerDeliveries(db, filter);
    },
  );

  const events = (filter: Partial<EventFilter> = {}) => ({
    ...EVERY_EVENT,
    integrationIds: [shop.integrationId],
    ...filter,
  });
  each<EventFilter>(
    'events',
    {
      all: () => events(),
      'of a type': () => events({ types: ['listing.sold'] }),
      'of a rare type': () => events({ types: ['part.updated'] }),
      'that were sent': () => events({ outcome: 'sent' }),
      'that were suppressed': () => events({ outcome: 'echo' }),
      'without a URL': () => events({ outcome: 'no_url' }),
      'of an item': () => events({ objectIds: [itemIdOf(shop, 501)] }),
    },
    async (db, filter) => {
      await listDealerEvents(db, filter, { from: null, limit: LIMIT });
      await countDealerEvents(db, filter);
    },
  );

  const requests = (filter: Partial<RequestFilter> = {}): RequestFilter => ({
    integrationIds: [shop.integrationId],
    statusClass: null,
    method: null,
    route: null,
    search: '',
    from: null,
    to: null,
    ...filter,
  });
  const DAY_MS = 86_400_000;
  each<RequestFilter>(
    'API requests',
    {
      all: () => requests(),
      'that succeeded': () => requests({ statusClass: 2 }),
      'of a rare success': () => requests({ statusClass: 3 }),
      'that were refused': () => requests({ statusClass: 4 }),
      'that failed, which is rare': () => requests({ statusClass: 5 }),
      'that write': () => requests({ method: 'POST' }),
      'of a rare method': () => requests({ method: 'HEAD' }),
      'of a route': () => requests({ route: '/v1/orders' }),
      'of a rare route': () => requests({ route: '/v1/me' }),
      'of a route that were refused': () => requests({ route: '/v1/orders', statusClass: 4 }),
      'with a key': () => requests({ search: 'key-20' }),
      'of the oldest day': () => requests({ to: new Date(Date.now() - 5 * DAY_MS) }),
      'of the oldest day, that were refused': () => requests({ to: new Date(Date.now() - 5 * DAY_MS), statusClass: 4 }),
      'of a day without requests': () => requests({ from: new Date(Date.now() + DAY_MS) }),
    },
    async (db, filter) => {
      await listApiRequests(db, { ...filter, start: null, limit: LIMIT });
      await countApiRequests(db, filter);
    },
  );
});

async function readOrders(db: Database, asked: OrderFilter): Promise<void> {
  const filter = { ...asked, found: await findOrderIds(db, asked) };
  await listDealerOrders(db, { ...filter, isDescending: true, start: null, limit: LIMIT });
  await countDealerOrders(db, filter);
}

function readStock(sort: (typeof STOCK_SORTS)[number]) {
  return async (db: Database, asked: StockFilter) => {
    const filter = { ...asked, matched: await matchSearch(db, asked) };
    await listStock(db, { ...filter, sort, from: null, limit: LIMIT }, null);
    await countStock(db, filter);
  };
}
