import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type ApiRequest = Output<'GET /requests'>['data'][number];
export type RequestChoices = Output<'GET /requests/choices'>;
export type RequestPage = Output<'GET /requests/{request_id}'>;

/** Requests are not announced to open pages: there may be hundreds a second. */
export function requestsQuery(query: Record<string, string>) {
  return read('GET /requests', { query }, ['integration']);
}

export function requestChoicesQuery() {
  return read('GET /requests/choices', {}, ['integration']);
}

export function requestQuery(id: string) {
  return read('GET /requests/{request_id}', { params: { request_id: id } }, ['integration']);
}
