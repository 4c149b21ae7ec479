import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type SaleRow = Output<'GET /sales'>['data'][number];

export function salesQuery(query: Record<string, string>) {
  return read('GET /sales', { query }, ['sale', 'order', 'customer', 'integration', 'account']);
}

/** The tabs count what the search and the filters find. */
export function saleChoicesQuery({ after: _after, before: _before, sort: _sort, ...query }: Record<string, string>) {
  return read('GET /sales/choices', { query }, ['sale', 'order', 'integration', 'account']);
}
