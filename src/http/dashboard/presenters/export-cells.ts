import type { Static } from 'typebox';
import type { CustomerRow } from '../../../contract/dashboard/orders/customers.ts';
import type { SaleRow } from '../../../contract/dashboard/orders/sales.ts';
import type { CustomerName } from '../../../customers/customer-names.ts';
import { money } from '../../../inventory/csv/cells.ts';
import type { ListedOrder } from '../../../sales/orders/dealer/list-orders.ts';
import { fullName } from './order-presenters.ts';

/** Orders, sales and customers as the lines of a CSV file. Amounts are in units of their currency, with its decimals. */

export const ORDER_HEADER = [
  'order',
  'status',
  'test',
  'channel',
  'received',
  'buyer',
  'email',
  'phone',
  'items',
  'lines',
  'matched',
  'total',
  'currency',
  'id',
];

export function orderCells(
  row: ListedOrder,
  { channels, customers }: { channels: Map<string, string>; customers: Map<string, CustomerName> },
): string[] {
  const customer = customers.get(row.customerId ?? '');
  const buyer = fullName(row.buyer?.first_name, row.buyer?.last_name);
  const titles = row.lines.map(({ title, quantity }) => `${quantity} × ${title ?? 'item'}`);
  return [
    row.channelOrderId,
    row.status,
    row.isTest ? 'yes' : '',
    channels.get(row.integrationId) ?? '',
    row.createdAt.toISOString(),
    fullName(customer?.firstName, customer?.lastName) ?? customer?.company ?? buyer ?? '',
    customer?.email ?? row.buyer?.email ?? '',
    customer?.phone ?? row.buyer?.phone ?? '',
    [...titles, ...(row.lineCount > titles.length ? ['…'] : [])].join(' | '),
    String(row.lineCount),
    String(row.matchedCount),
    row.totalAmount === null ? '' : money(row.currency).write(row.totalAmount),
    row.currency,
    row.id,
  ];
}

export const SALE_HEADER = [
  'sold',
  'status',
  'test',
  'item',
  'stock number',
  'units',
  'amount',
  'currency',
  'channel',
  'order',
  'buyer',
  'voided',
  'id',
];

export function saleCells(sale: SaleRow): string[] {
  return [
    sale.created_at,
    sale.status,
    sale.is_test ? 'yes' : '',
    sale.title,
    sale.stock_number,
    String(sale.units),
    sale.price === null ? '' : money(sale.price.currency).write(sale.price.amount),
    sale.price?.currency ?? '',
    sale.channel_name ?? sale.channel,
    sale.order?.channel_order_id ?? sale.order?.id ?? '',
    sale.buyer?.name ?? '',
    sale.voided_at ?? '',
    sale.id,
  ];
}

export const CUSTOMER_HEADER = ['name', 'company', 'email', 'phone', 'known_on', 'orders', 'spent', 'since', 'id'];

export function customerCells(row: Static<typeof CustomerRow>): string[] {
  return [
    row.name ?? '',
    row.company ?? '',
    row.email ?? '',
    row.phone ?? '',
    row.channels.map(({ name }) => name).join(', '),
    `${row.orders.value}${row.orders.is_capped ? '+' : ''}`,
    (row.spent ?? []).map(({ amount, currency }) => `${money(currency).write(amount)} ${currency}`).join(', '),
    row.created_at,
    row.id,
  ];
}
