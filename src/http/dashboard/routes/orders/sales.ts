import {
  COUNTER,
  type Period,
  SALE_SORTS,
  SALE_TABS,
  type SaleTab,
  type TestData,
} from '../../../../contract/dashboard/orders/order-labels.ts';
import type { SaleRow, saleOperations } from '../../../../contract/dashboard/orders/sales.ts';
import { type CustomerName, namesOfCustomers } from '../../../../customers/customer-names.ts';
import { listCustomers } from '../../../../customers/list-customers.ts';
import { listChannels } from '../../../../dealers/integrations/integrations.ts';
import { organizationDefaults } from '../../../../dealers/organization-settings.ts';
import { type ItemSummary, summariesOf } from '../../../../inventory/lists/item-summaries.ts';
import { countSales, type ListedSale, listSales, type SaleFilter, totalSales } from '../../../../sales/list-sales.ts';
import { changeSale, sellUnits, voidSale } from '../../../../sales/sell.ts';
import { attemptOf } from '../../attempt-of.ts';
import type { DashboardContext, Handlers, SignedIn } from '../../call.ts';
import { sendCsv } from '../../lists/csv-export.ts';
import { customerFilterOf } from '../../lists/customer-filter.ts';
import { pageRequestOf, presentCount, readPage, sortOf } from '../../lists/list-page.ts';
import { SALE_HEADER, saleCells } from '../../presenters/export-cells.ts';
import { fullName, modesOf, presentCustomer, timesOf } from '../../presenters/order-presenters.ts';
import { photoUrl } from '../../presenters/photo-urls.ts';
import { withWireFields } from '../../wire-fields.ts';

const FIELDS = { itemId: 'item_id', customerId: 'customer_id' };
const COUNTER_NAME = 'Over the counter';
const CUSTOMERS_LIMIT = 10;

export const saleHandlers: Handlers<typeof saleOperations> = {
  async listSales({ context, user, query }) {
    const { db } = context;
    const sort = sortOf(query.sort, SALE_SORTS);
    const request = pageRequestOf(query, sort);
    const filter = filterOf(context, user, query);
    const wanted = { ...filter, isDescending: sort === '-created', start: request.from, limit: request.limit + 1 };
    const [{ rows, page }, channels] = await Promise.all([
      readPage(request, sort, {
        read: () => listSales(db, wanted),
        count: () => countSales(db, filter),
        positionOf: (row) => ({ value: row.position, id: row.id }),
      }),
      channelNames(context, user),
    ]);
    return { data: await presentSales(context, user, rows, channels), ...page };
  },

  async exportSales({ context, user, query, reply }) {
    const filter = filterOf(context, user, query);
    const channels = await channelNames(context, user);
    return await sendCsv({ user, reply }, 'sales.csv', {
      header: SALE_HEADER,
      read: (start, limit) => listSales(context.db, { ...filter, isDescending: true, start, limit }),
      cellsOf: async (rows) => (await presentSales(context, user, rows, channels)).map(saleCells),
    });
  },

  async getSaleChoices({ context, user, query }) {
    const channels = await channelNames(context, user);
    const counts: [string, ReturnType<typeof presentCount>][] = [];
    for (const tab of Object.keys(SALE_TABS) as SaleTab[]) {
      counts.push([tab, presentCount(await countSales(context.db, filterOf(context, user, { ...query, tab })))]);
    }
    const found = await totalSales(context.db, filterOf(context, user, query));
    return {
      channels: [...channels].map(([channel, name]) => ({ channel, name })),
      tabs: Object.fromEntries(counts),
      totals: found?.totals.map(({ amount, currency }) => ({ amount, currency })) ?? null,
      unpriced: found?.unpriced ?? null,
    };
  },

  async recordSale({ context, user, actor, body }) {
    const {
      item_id: itemId,
      units,
      amount,
      customer_id: customerId,
      releases_reservations: releasesReservations = false,
    } = body;
    const terms = { amount, customerId, releasesReservations, attempt: attemptOf(body) };
    const id = await withWireFields(FIELDS, () =>
      sellUnits(context.channel, actor, user.organizationId, itemId, units, terms),
    );
    notify(context, user, id);
    context.dashboard.feed.notify(user.organizationId, 'item', [itemId]);
    return { id };
  },

  async changeSale({ context, user, actor, params, body }) {
    const { amount, customer_id: customerId } = body;
    const changes = {
      ...(amount === undefined ? {} : { amount }),
      ...(customerId === undefined ? {} : { customerId }),
    };
    await withWireFields(FIELDS, () =>
      changeSale(context.channel, actor, user.organizationId, params.sale_id, changes),
    );
    notify(context, user, params.sale_id);
    return null;
  },

  async voidSale({ context, user, actor, params }) {
    await voidSale(context.channel, actor, user.organizationId, params.sale_id);
    notify(context, user, params.sale_id);
    context.dashboard.feed.notify(user.organizationId, 'item', null);
    context.dashboard.feed.notify(user.organizationId, 'order', null);
    return null;
  },

  async searchCustomers({ context, user, query }) {
    const filter = await customerFilterOf(context, user, { search: query.q ?? '', isTest: [query.is_test === 'yes'] });
    const page = { ...filter, isDescending: true, start: null, limit: CUSTOMERS_LIMIT };
    const found = await listCustomers(context.db, page);
    return { data: found.map(presentCustomer) };
  },
};

type FilterQuery = {
  q?: string;
  tab?: SaleTab;
  channel?: string;
  test?: TestData;
  period?: Period;
  from?: string;
  to?: string;
};

function filterOf(context: DashboardContext, user: SignedIn, query: FilterQuery): SaleFilter {
  return {
    organizationId: user.organizationId,
    channel: query.channel ?? null,
    statuses: SALE_TABS[query.tab ?? 'completed'],
    isTest: modesOf(user, query.test),
    ...timesOf(context, query),
    search: query.q ?? '',
  };
}

async function channelNames({ db }: DashboardContext, { organizationId }: SignedIn): Promise<Map<string, string>> {
  const channels = await listChannels(db, organizationId);
  return new Map([[COUNTER, COUNTER_NAME], ...channels.map(({ id, name }): [string, string] => [id, name])]);
}

type Shown = {
  items: Map<string, ItemSummary>;
  customers: Map<string, CustomerName>;
  channels: Map<string, string>;
  publicUrl: string;
  /** Of the business. */
  currency: string;
};

async function presentSales(
  { db, publicUrl }: DashboardContext,
  { organizationId }: SignedIn,
  rows: ListedSale[],
  channels: Map<string, string>,
): Promise<SaleRow[]> {
  const itemIds = rows.flatMap(({ itemId }) => itemId ?? []);
  const customerIds = rows.flatMap(({ customerId }) => customerId ?? []);
  const [items, customers, { currency }] = await Promise.all([
    summariesOf(db, organizationId, itemIds),
    namesOfCustomers(db, organizationId, customerIds),
    organizationDefaults(db, organizationId),
  ]);
  return rows.map((row) => presentSale(row, { items, customers, channels, publicUrl, currency }));
}

function presentSale(row: ListedSale, { items, customers, channels, publicUrl, currency }: Shown): SaleRow {
  return {
    id: row.id,
    item_id: row.itemId,
    title: row.title,
    stock_number: row.stockNumber,
    photo_url: photoUrl(publicUrl, items.get(row.itemId ?? '')?.photoId ?? null, 'small'),
    units: row.units,
    status: row.status,
    is_test: row.isTest,
    price: row.amount === null || row.currency === null ? null : { amount: row.amount, currency: row.currency },
    currency: row.currency ?? currency,
    channel: row.channel,
    channel_name: channels.get(row.channel) ?? null,
    order: row.orderId === null ? null : { id: row.orderId, channel_order_id: row.channelOrderId },
    buyer: buyerOf(row, customers.get(row.customerId ?? '')),
    created_at: row.createdAt.toISOString(),
    voided_at: row.voidedAt?.toISOString() ?? null,
  };
}

/** The customer as the dealer knows it or, without one, the buyer as the client reported it. */
function buyerOf({ reportedBuyer }: ListedSale, customer: CustomerName | undefined): SaleRow['buyer'] {
  if (customer !== undefined) {
    const { id, name, email, phone } = presentCustomer(customer);
    return { name: name ?? email ?? phone, customer_id: id };
  }
  if (reportedBuyer === null) return null;
  const { first_name, last_name, email } = reportedBuyer;
  return { name: fullName(first_name, last_name) ?? email, customer_id: null };
}

function notify({ dashboard }: DashboardContext, { organizationId }: SignedIn, saleId: string): void {
  dashboard.feed.notify(organizationId, 'sale', [saleId]);
  dashboard.feed.notify(organizationId, 'audit', null);
}
