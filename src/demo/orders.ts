import type { ChannelContext } from '../channel/context.ts';
import { ID_PREFIXES } from '../contract/ids.ts';
import type { Order, OrderInput } from '../contract/resources/order.ts';
import type { Transaction } from '../db/database.ts';
import { changeOrder } from '../sales/orders/change-order.ts';
import { draftOrder } from '../sales/orders/order-draft.ts';
import { cancelByClient, confirmOrder, dismissOrder, fulfilOrder } from '../sales/orders/order-operations.ts';
import { placeOrders } from '../sales/orders/place-orders.ts';
import { DEMO } from './demo-actor.ts';
import { type DemoOrder, type DemoOrderLine, type DemoPerson, PEOPLE } from './order-plan.ts';

export type OrderedItem = { id: string; reference: string; priceAmount: number };

type Shop = {
  /** The same operations as if they were done so many days ago. */
  at: (daysAgo: number) => ChannelContext;
  tx: Transaction;
  organizationId: string;
  integrationId: string;
  isTest: boolean;
  currency: string;
  /** What the site shows for a price of the dealer's. */
  priceOf: (amount: number) => number;
  stock: readonly OrderedItem[];
};

const DAY_MS = 24 * 60 * 60 * 1000;
/** The buyer pays, and the site reports the order some minutes later. */
const REPORT_DELAY_MS = 4 * 60 * 1000;

/** Reports orders as a site would, in the order of their times, and does with each what the plan says. */
export async function reportDemoOrders(shop: Shop, orders: readonly DemoOrder[]): Promise<void> {
  for (const planned of orders) {
    const { id } = await report(shop, planned);
    const dealer = [DEMO, shop.organizationId, id] as const;
    const then = (hours: number) => shop.at(planned.daysAgo - hours / 24);
    switch (planned.becomes) {
      case 'received':
        break;
      case 'matched':
        await confirmOrder(then(2), ...dealer);
        break;
      case 'fulfilled':
        await confirmOrder(then(2), ...dealer);
        await fulfilOrder(then(26), ...dealer);
        break;
      case 'dismissed':
        await dismissOrder(then(3), ...dealer, planned.reason ?? null);
        break;
      case 'cancelled':
        await changeOrder(shop.tx, then(5), { organizationId: shop.organizationId }, id, (open) =>
          cancelByClient(open, planned.reason ?? null),
        );
        break;
    }
  }
}

async function report(shop: Shop, planned: DemoOrder): Promise<Order> {
  const { organizationId, integrationId, isTest } = shop;
  const scope = { organizationId, integrationId, isTest };
  const draft = draftOrder(inputOf(shop, planned), { currency: shop.currency, country: 'CH' });
  const { documents } = await placeOrders(shop.tx, shop.at(planned.daysAgo), scope, [draft]);
  return JSON.parse(documents[0] ?? '{}') as Order;
}

function inputOf(shop: Shop, { number, daysAgo, buyer, lines, shipping, metadata, phone }: DemoOrder): OrderInput {
  const person: DemoPerson = PEOPLE[buyer];
  const { address, billing = null, ...customer } = person;
  const name = `${person.first_name} ${person.last_name}`;
  return {
    channel_order_id: number,
    placed_at: new Date(Date.now() - daysAgo * DAY_MS - REPORT_DELAY_MS).toISOString(),
    customer: { ...customer, ...(phone === undefined ? {} : { phone }) },
    shipping_address: { name, ...address },
    billing_address: { name, ...(billing ?? address) },
    lines: lines.map((line) => lineOf(shop, line)),
    shipping_amount: shipping,
    tax_amount: 0,
    metadata: metadata ?? null,
  };
}

function lineOf(shop: Shop, line: DemoOrderLine) {
  const item = shop.stock.find(({ reference }) => reference === line.of);
  const isListing = item?.id.startsWith(ID_PREFIXES.listing) ?? true;
  const id = line.isNamed === false ? null : (item?.id ?? line.of);
  return {
    ...(isListing ? { listing_id: id } : { part_id: id }),
    quantity: line.quantity ?? 1,
    unit_amount: line.unitAmount ?? (item === undefined ? null : shop.priceOf(item.priceAmount)),
    discount_amount: line.discount ?? null,
    title: line.title,
  };
}
