import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type OrderRow = Output<'GET /orders'>['data'][number];
export type OrderPage = Output<'GET /orders/{order_id}'>;
export type Order = OrderPage['order'];
export type OrderLine = Order['lines'][number];
export type PageLine = OrderPage['lines'][number];
export type Suggestion = Output<'GET /orders/{order_id}/suggestions'>['lines'][number]['suggestions'][number];
export type TimelineEntry = Output<'GET /orders/{order_id}/timeline'>['entries'][number];

export function ordersQuery(query: Record<string, string>) {
  return read('GET /orders', { query }, ['order', 'item', 'integration', 'account']);
}

/** The tabs count what the search and the filters find. */
export function orderChoicesQuery({ after: _after, before: _before, sort: _sort, ...query }: Record<string, string>) {
  return read('GET /orders/choices', { query }, ['order', 'integration', 'account']);
}

export function orderQuery(id: string) {
  return read('GET /orders/{order_id}', { params: { order_id: id } }, ['order', 'item', 'customer', 'integration']);
}

export function suggestionsQuery(id: string) {
  return read('GET /orders/{order_id}/suggestions', { params: { order_id: id } }, ['order', 'item']);
}

export function timelineQuery(id: string) {
  return read('GET /orders/{order_id}/timeline', { params: { order_id: id } }, ['order', 'event', 'delivery', 'audit']);
}
