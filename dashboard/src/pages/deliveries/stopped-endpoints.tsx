import { Alert, Button, Group, Text } from '@mantine/core';
import { STOP_REASON_LABELS } from '../../../../src/contract/dashboard/integrations/integrations.ts';
import { readAnew, useOperation } from '../../api/queries.ts';
import { formatCount } from '../../format.ts';
import { paths } from '../../paths.ts';
import { TextLink } from '../../ui/text-link.tsx';
import type { DeliveryChoices } from './delivery-queries.ts';

type Endpoint = DeliveryChoices['integrations'][number];

/** Integrations that have a URL and get nothing: why, how much waits, and the click that resumes it. */
export function StoppedEndpoints({ integrations }: { integrations: readonly Endpoint[] }) {
  return integrations
    .filter(({ url, stop_reasons }) => url !== null && stop_reasons.length > 0)
    .map((endpoint) => <StoppedEndpoint key={endpoint.integration_id} endpoint={endpoint} />);
}

function StoppedEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const { integration_id: id, name, stop_reasons: reasons, held } = endpoint;
  return (
    <Alert color="brass" mb="sm" py="xs" role="status">
      <Group justify="space-between" gap="xs">
        <Text size="sm" className="stopped-endpoint">
          <b>Nothing is sent to {name}.</b> {reasons.map((reason) => STOP_REASON_LABELS[reason]).join(' ')}{' '}
          {held.value === 0 ? 'Nothing is held yet.' : `${formatCount(held)} held, and sent when it is on again.`}
        </Text>
        <Group gap="sm">
          <TextLink to={paths.integration(id)} search={{ tab: 'webhooks' }}>
            Webhook settings
          </TextLink>
          {endpoint.is_enabled ? null : <TurnOnButton integrationId={id} />}
        </Group>
      </Group>
    </Alert>
  );
}

/** Turns webhooks on; what was held is sent at once. */
export function TurnOnButton({ integrationId }: { integrationId: string }) {
  const turnOn = useOperation('PUT /integrations/{integration_id}/webhook/enabled', {
    success: 'Webhooks are on. What was held is sent now.',
    onSuccess: () => void Promise.all([readAnew('delivery'), readAnew('integration')]),
  });
  return (
    <Button
      size="xs"
      loading={turnOn.isPending}
      onClick={() => turnOn.mutate({ params: { integration_id: integrationId }, body: { is_enabled: true } })}
    >
      Turn on and resume
    </Button>
  );
}
