import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';
import type { Kind } from '../stock/stock-queries.ts';

export type Item = Output<'GET /items/{item_id}'>;
export type Reservation = Output<'GET /items/{item_id}/reservations'>['data'][number];
export type ItemChannel = Item['channels'][number];
export type ItemChoices = Output<'GET /item-choices'>;

export function itemQuery(id: string) {
  return read('GET /items/{item_id}', { params: { item_id: id } }, ['item', 'location', 'integration']);
}

/** Who holds units of it for a checkout. */
export function itemReservationsQuery(id: string) {
  return read('GET /items/{item_id}/reservations', { params: { item_id: id } }, ['item', 'integration']);
}

export function itemChoicesQuery(kind: Kind) {
  return read('GET /item-choices', { query: { kind } }, ['location', 'organization']);
}
