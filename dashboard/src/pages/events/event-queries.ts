import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type EventRow = Output<'GET /events'>['data'][number];
export type EventDetails = Output<'GET /events/{event_id}'>;

export function eventsQuery(query: Record<string, string>) {
  return read('GET /events', { query }, ['event', 'delivery']);
}

export const eventChoicesQuery = read('GET /events/choices', {}, ['integration']);

export function eventQuery(id: string) {
  return read('GET /events/{event_id}', { params: { event_id: id } }, ['event', 'delivery', 'integration']);
}
