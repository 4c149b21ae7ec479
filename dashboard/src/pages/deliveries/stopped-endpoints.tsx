import { Box } from '@mantine/core';
import { formatCount } from '../../format.ts';
import type { DeliveryChoices } from './delivery-queries.ts';
import { StoppedAlert } from './stopped-alert.tsx';

/** Integrations that have a URL and get nothing: why, how much waits, and the click that resumes it. */
export function StoppedEndpoints({ integrations }: { integrations: DeliveryChoices['integrations'] }) {
  return integrations
    .filter(({ url, stop_reasons }) => url !== null && stop_reasons.length > 0)
    .map((endpoint) => (
      <Box key={endpoint.integration_id} mb="sm">
        <StoppedAlert integrationId={endpoint.integration_id} name={endpoint.name} stop={endpoint}>
          {endpoint.held.value === 0
            ? 'Nothing is held yet.'
            : `${formatCount(endpoint.held)} held, and sent when it is on again.`}
        </StoppedAlert>
      </Box>
    ));
}
