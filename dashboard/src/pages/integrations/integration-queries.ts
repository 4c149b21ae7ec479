import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type IntegrationEntry = Output<'GET /integrations'>['data'][number];
export type Integration = Output<'GET /integrations/{integration_id}'>;

export const integrationsQuery = read('GET /integrations', {}, ['integration', 'organization']);

export function integrationQuery(id: string) {
  const params = { integration_id: id };
  return read('GET /integrations/{integration_id}', { params }, [
    'integration',
    'order',
    'customer',
    'delivery',
    'job',
  ]);
}

export function testDeliveryQuery(id: string, deliveryId: string) {
  const params = { integration_id: id, delivery_id: deliveryId };
  return read('GET /integrations/{integration_id}/test-deliveries/{delivery_id}', { params }, ['delivery']);
}
