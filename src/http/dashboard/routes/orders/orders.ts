import {
  ORDER_SORTS,
  ORDER_TABS,
  type OrderTab,
  type Period,
  type TestData,
} from '../../../../contract/dashboard/orders/order-labels.ts';
import type { orderOperations } from '../../../../contract/dashboard/orders/orders.ts';
import type { Order } from '../../../../contract/resources/order.ts';
import { namesOfCustomers } from '../../../../customers/customer-names.ts';
import { readCustomers, type StoredCustomer } from '../../../../customers/customer-rows.ts';
import type { Database } from '../../../../db/database.ts';
import { listChannels } from '../../../../dealers/integrations/integrations.ts';
import { summariesOf } from '../../../../inventory/lists/item-summaries.ts';
import { assignCustomer } from '../../../../sales/customers/assign-customer.ts';
import {
  countDealerOrders,
  findOrderIds,
  listDealerOrders,
  type OrderFilter,
} from '../../../../sales/orders/dealer/list-orders.ts';
import { readDealerOrder } from '../../../../sales/orders/dealer/order-details.ts';
import { suggestItems } from '../../../../sales/orders/dealer/suggestions.ts';
import { draftBuyer } from '../../../../sales/orders/order-draft.ts';
import {
  cancelSale,
  confirmOrder,
  dismissOrder,
  fulfilOrder,
  matchLine,
  unmatchLine,
} from '../../../../sales/orders/order-operations.ts';
import { attemptOf } from '../../attempt-of.ts';
import type { DashboardContext, Handlers, SignedIn } from '../../call.ts';
import { sendCsv } from '../../lists/csv-export.ts';
import { pageRequestOf, presentCount, readPage, sortOf } from '../../lists/list-page.ts';
import { ORDER_HEADER, orderCells } from '../../presenters/export-cells.ts';
import { modesOf, presentItem, presentOrderPage, presentRow, timesOf } from '../../presenters/order-presenters.ts';
import { readOrderTimeline } from '../../presenters/order-timeline.ts';
import { withWireFields } from '../../wire-fields.ts';

const FIELDS = { lineId: 'line_id', itemId: 'item_id', customerId: 'customer_id' };
const PERCENT = 100;

export const orderHandlers: Handlers<typeof orderOperations> = {
  async listOrders({ context, user, query }) {
    const sort = sortOf(query.sort, ORDER_SORTS);
    const request = pageRequestOf(query, sort);
    const asked = filterOf(context, user, query);
    const filter = { ...asked, found: await findOrderIds(context.db, asked) };
    const wanted = { ...filter, isDescending: sort === '-created', start: request.from, limit: request.limit + 1 };
    const { rows, page } = await readPage(request, sort, {
      read: () => listDealerOrders(context.db, wanted),
      count: () => countDealerOrders(context.db, filter),
      positionOf: (row) => ({ value: row.position, id: row.id }),
    });
    const itemIds = rows.flatMap((row) => row.lines.flatMap(({ itemId }) => itemId ?? []));
    const items = await summariesOf(context.db, user.organizationId, itemIds);
    return { data: rows.map((row) => presentRow(row, items, context.publicUrl)), ...page };
  },

  async exportOrders({ context, user, query, reply }) {
    const { db } = context;
    const filter = filterOf(context, user, query);
    const channels = new Map((await listChannels(db, user.organizationId)).map(({ id, name }) => [id, name]));
    return await sendCsv({ user, reply }, 'orders.csv', {
      header: ORDER_HEADER,
      read: (start, limit) => listDealerOrders(db, { ...filter, isDescending: true, start, limit }),
      async cellsOf(rows) {
        const ids = rows.flatMap(({ customerId }) => customerId ?? []);
        const customers = await namesOfCustomers(db, user.organizationId, ids);
        return rows.map((row) => orderCells(row, { channels, customers }));
      },
    });
  },

  async getOrderChoices({ context, user, query }) {
    const channels = await listChannels(context.db, user.organizationId);
    const counts: [string, ReturnType<typeof presentCount>][] = [];
    for (const tab of Object.keys(ORDER_TABS) as OrderTab[]) {
      counts.push([tab, presentCount(await countDealerOrders(context.db, filterOf(context, user, { ...query, tab })))]);
    }
    return {
      channels: channels.map(({ id, name }) => ({ integration_id: id, name })),
      tabs: Object.fromEntries(counts),
    };
  },

  async getOrder({ context, user, params }) {
    const { db, publicUrl } = context;
    const { organizationId } = user;
    const details = await readDealerOrder(db, organizationId, params.order_id);
    const { order, integrationId, hasCustomerConflict } = details;
    const [channels, customers, conflicting] = await Promise.all([
      listChannels(db, organizationId),
      namesOfCustomers(db, organizationId, order.customer_id === null ? [] : [order.customer_id]),
      hasCustomerConflict ? candidatesOf(db, organizationId, integrationId, order) : [],
    ]);
    return presentOrderPage(details, {
      channelName: channels.find(({ id }) => id === integrationId)?.name ?? null,
      customer: customers.get(order.customer_id ?? '') ?? null,
      conflicting: conflicting.map((one) => ({ ...one, isTest: order.is_test })),
      publicUrl,
    });
  },

  async getOrderSuggestions({ context, user, params }) {
    const { order, integrationId } = await readDealerOrder(context.db, user.organizationId, params.order_id);
    const suggested = await suggestItems(context.db, user.organizationId, integrationId, order);
    return {
      lines: [...suggested].map(([lineId, suggestions]) => ({
        line_id: lineId,
        suggestions: suggestions.flatMap(({ item, reasons, priceDifference, isOnChannel }) => {
          const shown = presentItem(item, context.publicUrl);
          const percent = priceDifference === null ? null : Math.round(priceDifference * PERCENT * 10) / 10;
          return shown === null
            ? []
            : [{ item: shown, reasons, price_difference_percent: percent, is_on_channel: isOnChannel }];
        }),
      })),
    };
  },

  async getOrderTimeline({ context, user, params }) {
    return await readOrderTimeline(context.db, user.organizationId, params.order_id);
  },

  async matchOrderLine({ context, user, actor, params, body }) {
    const { line_id: lineId, item_id: itemId, units = 1 } = body;
    const attempt = attemptOf(body, params);
    const choice = lineId === null ? { lineId, itemId, units, attempt } : { lineId, itemId };
    await withWireFields(FIELDS, () => matchLine(context.channel, actor, user.organizationId, params.order_id, choice));
    notify(context, user, params.order_id);
    return null;
  },

  async unmatchOrderLine({ context, user, actor, params, body }) {
    await withWireFields(FIELDS, () =>
      unmatchLine(context.channel, actor, user.organizationId, params.order_id, body.line_id),
    );
    notify(context, user, params.order_id);
    return null;
  },

  async assignOrderCustomer({ context, user, actor, params, body }) {
    await withWireFields(FIELDS, () =>
      assignCustomer(context.channel, actor, user.organizationId, params.order_id, body.customer_id),
    );
    notify(context, user, params.order_id);
    return null;
  },

  async confirmOrder({ context, user, actor, params }) {
    await confirmOrder(context.channel, actor, user.organizationId, params.order_id);
    notifyOfSale(context, user, params.order_id);
    return null;
  },

  async fulfilOrder({ context, user, actor, params }) {
    await fulfilOrder(context.channel, actor, user.organizationId, params.order_id);
    notify(context, user, params.order_id);
    return null;
  },

  async dismissOrder({ context, user, actor, params, body }) {
    await dismissOrder(context.channel, actor, user.organizationId, params.order_id, body.reason);
    notify(context, user, params.order_id);
    return null;
  },

  async cancelOrderSale({ context, user, actor, params }) {
    await cancelSale(context.channel, actor, user.organizationId, params.order_id);
    notifyOfSale(context, user, params.order_id);
    return null;
  },
};

type FilterQuery = {
  q?: string;
  tab?: OrderTab;
  integration_id?: string;
  test?: TestData;
  conflict?: 'yes';
  customer_id?: string;
  period?: Period;
  from?: string;
  to?: string;
};

function filterOf(context: DashboardContext, user: SignedIn, query: FilterQuery): OrderFilter {
  return {
    organizationId: user.organizationId,
    integrationId: query.integration_id ?? null,
    statuses: ORDER_TABS[query.tab ?? 'queue'],
    isTest: modesOf(user, query.test),
    ...timesOf(context, query),
    search: query.q ?? '',
    hasConflict: query.conflict === 'yes',
    customerId: query.customer_id ?? null,
  };
}

/** The customers that the reported buyer may be, by email, phone and the client's own id. */
async function candidatesOf(
  db: Database,
  organizationId: string,
  integrationId: string,
  order: Order,
): Promise<StoredCustomer[]> {
  // An order holds the phone with its country code.
  const draft = draftBuyer(order.customer, null);
  if (draft === null) return [];
  const scope = { organizationId, integrationId, isTest: order.is_test };
  const { customers } = await db.transaction(async (tx) => await readCustomers(tx, scope, [draft]));
  return customers;
}

function notify({ dashboard }: DashboardContext, { organizationId }: SignedIn, orderId: string): void {
  dashboard.feed.notify(organizationId, 'order', [orderId]);
  dashboard.feed.notify(organizationId, 'audit', null);
}

function notifyOfSale(context: DashboardContext, user: SignedIn, orderId: string): void {
  notify(context, user, orderId);
  context.dashboard.feed.notify(user.organizationId, 'sale', null);
}
