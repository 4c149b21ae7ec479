import { skipToken, useQuery } from '@tanstack/react-query';
import type { Output } from '../../api/client.ts';
import { queryClient, read } from '../../api/queries.ts';

export type IntegrationEntry = Output<'GET /integrations'>['data'][number];
export type Deletion = Output<'GET /integrations'>['deletions'][number];
export type Integration = Output<'GET /integrations/{integration_id}'>;

export const integrationsQuery = read('GET /integrations', {}, ['integration', 'organization', 'job', 'delivery']);

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

type CheckAnswer = Output<'POST /integrations/{integration_id}/webhook/check'>;
/** With the last delivery that had arrived by then: the clock of a browser says nothing about what came first. */
export type WebhookCheck = CheckAnswer & { lastSuccessAt: string | null };

const checkKey = (id: string) => ['webhook check', id];

/** The last check of the webhook URL by this person. It leaves no trace in the service: it is no delivery. */
export function useLastCheck(id: string): WebhookCheck | null {
  const { data } = useQuery<WebhookCheck | null>({ queryKey: checkKey(id), queryFn: skipToken, meta: { kinds: [] } });
  return data ?? null;
}

export function keepCheck(id: string, check: CheckAnswer | null): void {
  const lastSuccessAt = queryClient.getQueryData(integrationQuery(id).queryKey)?.webhook.last_success_at ?? null;
  queryClient.setQueryData<WebhookCheck | null>(checkKey(id), check && { ...check, lastSuccessAt });
}

/** A gauge shows what happens now; requests of a client are too many to be announced one by one. */
const GAUGE_EVERY_MS = 2_000;

export function usageQuery(id: string) {
  const query = read('GET /integrations/{integration_id}/usage', { params: { integration_id: id } }, ['integration']);
  return { ...query, refetchInterval: GAUGE_EVERY_MS };
}

export function testDeliveryQuery(id: string, deliveryId: string) {
  const params = { integration_id: id, delivery_id: deliveryId };
  return read('GET /integrations/{integration_id}/test-deliveries/{delivery_id}', { params }, ['delivery']);
}
