import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type Kind = 'listing' | 'part';
export type StockItem = Output<'GET /stock'>['data'][number];
export type StockChoices = Output<'GET /stock/choices'>;

export function stockQuery(kind: Kind, query: Record<string, string>) {
  return read('GET /stock', { query: { ...query, kind } }, ['item', 'location', 'integration']);
}

export function stockChoicesQuery(kind: Kind) {
  return read('GET /stock/choices', { query: { kind } }, ['item', 'location', 'integration']);
}
