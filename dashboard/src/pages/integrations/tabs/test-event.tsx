import { Button, Group, Loader, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Output } from '../../../api/client.ts';
import { useOperation } from '../../../api/queries.ts';
import { CopyId } from '../../../ui/copy-id.tsx';
import { Status, type Tone } from '../../../ui/status.tsx';
import { Time } from '../../../ui/time.tsx';
import { shownError } from '../../deliveries/attempts/plain-error.ts';
import { testDeliveryQuery } from '../integration-queries.ts';

type Sent = Output<'POST /integrations/{integration_id}/test-event'>;

/** Sends test events; the last one is watched until it has arrived. */
export function useTestEvent(integrationId: string) {
  const [sent, setSent] = useState<Sent | null>(null);
  const send = useOperation('POST /integrations/{integration_id}/test-event', { onSuccess: setSent });
  return {
    sent,
    isSending: send.isPending,
    send: () => send.mutate({ params: { integration_id: integrationId } }),
  };
}

export type TestEvent = ReturnType<typeof useTestEvent>;

export function TestEventButton({ test }: { test: TestEvent }) {
  return (
    <Button onClick={test.send} loading={test.isSending}>
      Send test event
    </Button>
  );
}

/** What became of the test event, live. */
export function TestEventResult({ integrationId, test }: { integrationId: string; test: TestEvent }) {
  if (test.sent === null) return null;
  const { delivery_id: deliveryId } = test.sent;
  return (
    <div className="panel" role="status">
      {deliveryId === null ? (
        <Text size="sm">
          The event was recorded and not sent: webhooks are off, or there is no URL. Set one on the tab Webhooks.
        </Text>
      ) : (
        <DeliveryState integrationId={integrationId} deliveryId={deliveryId} />
      )}
    </div>
  );
}

const STATES: Record<string, { tone: Tone; word: string }> = {
  pending: { tone: 'busy', word: 'On its way' },
  succeeded: { tone: 'good', word: 'Arrived' },
  failed: { tone: 'warn', word: 'Failed, will be tried again' },
  held: { tone: 'off', word: 'Held until webhooks are on' },
  dead_letter: { tone: 'bad', word: 'Given up' },
};

function DeliveryState({ integrationId, deliveryId }: { integrationId: string; deliveryId: string }) {
  const { data } = useQuery(testDeliveryQuery(integrationId, deliveryId));
  if (data === undefined) return <Loader size="xs" aria-label="Loading" />;
  const { tone, word } = STATES[data.status] ?? { tone: 'info', word: data.status };
  return (
    <Stack gap={4}>
      <Group gap="sm">
        <Status tone={tone}>{word}</Status>
        {data.response_code === null ? null : <Text size="sm">The website answered {data.response_code}.</Text>}
        {data.last_attempt_at === null ? null : (
          <Text size="xs" c="dimmed">
            <Time at={data.last_attempt_at} />
          </Text>
        )}
      </Group>
      {data.error === null ? null : <Text size="sm">{shownError(data.error)}</Text>}
      {data.response_body === null ? null : <Answer text={data.response_body} />}
      <CopyId id={data.event_id} label="event id" />
    </Stack>
  );
}

export function Answer({ text }: { text: string }) {
  return (
    <Text size="xs" component="pre" className="answer">
      {text}
    </Text>
  );
}
