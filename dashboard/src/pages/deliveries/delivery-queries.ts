import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type DeliveryRow = Output<'GET /deliveries'>['data'][number];
export type Delivery = Output<'GET /deliveries/{delivery_id}'>;
export type Attempt = Delivery['attempts_log'][number];
export type DeliveryChoices = Output<'GET /deliveries/choices'>;

export function deliveriesQuery(query: Record<string, string>) {
  return read('GET /deliveries', { query }, ['delivery', 'integration']);
}

export function deliveryChoicesQuery(query: Record<string, string>) {
  return read('GET /deliveries/choices', { query }, ['delivery', 'integration']);
}

export function deliveryQuery(id: string) {
  return read('GET /deliveries/{delivery_id}', { params: { delivery_id: id } }, ['delivery', 'integration']);
}
