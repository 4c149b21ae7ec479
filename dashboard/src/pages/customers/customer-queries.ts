import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type CustomerRow = Output<'GET /customers'>['data'][number];
export type CustomerPage = Output<'GET /customers/{customer_id}'>;
export type CustomerConflict = Output<'GET /customers/conflicts'>['data'][number];
export type MergePreview = Output<'GET /customers/{customer_id}/merge/{merged_id}'>;
export type Erasure = Output<'GET /customers/erasures'>['data'][number];
export type CustomerGlance = MergePreview['kept'];

export function customersQuery(query: Record<string, string>) {
  return read('GET /customers', { query }, ['customer', 'order', 'sale', 'integration', 'account']);
}

export function conflictsQuery(query: Record<string, string>) {
  return read('GET /customers/conflicts', { query }, ['customer', 'order', 'account']);
}

export const erasuresQuery = read('GET /customers/erasures', {}, ['job']);

export function customerQuery(id: string) {
  return read('GET /customers/{customer_id}', { params: { customer_id: id } }, [
    'customer',
    'order',
    'sale',
    'integration',
  ]);
}

/** The newest of the customer's orders. */
export function customerOrdersQuery(id: string) {
  const query = { customer_id: id, tab: 'all', test: 'show', limit: 10 } as const;
  return read('GET /orders', { query }, ['order', 'item', 'customer']);
}

export function mergeQuery(keptId: string, mergedId: string) {
  return read(
    'GET /customers/{customer_id}/merge/{merged_id}',
    { params: { customer_id: keptId, merged_id: mergedId } },
    ['customer', 'order'],
  );
}

/** How a page calls a customer. */
export function nameOf({ name, email, phone }: Pick<CustomerGlance, 'name' | 'email' | 'phone'>): string {
  return name ?? email ?? phone ?? 'Customer without a name';
}
