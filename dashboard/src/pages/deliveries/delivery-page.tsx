import { Alert, Group, Stack, Text, Title } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { STOP_REASON_LABELS } from '../../../../src/contract/dashboard/integrations/integrations.ts';
import { formatDuration } from '../../format.ts';
import { pathOfId, paths } from '../../paths.ts';
import { CopyId } from '../../ui/copy-id.tsx';
import { Page } from '../../ui/page/page.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { Facts } from '../integrations/integration-parts.tsx';
import { AttemptPanel } from './attempt-panel.tsx';
import { DeliveryStatus } from './delivery-parts.tsx';
import { type Delivery, deliveryQuery } from './delivery-queries.ts';
import { plainError } from './plain-error.ts';
import { ReplayButton } from './replay-buttons.tsx';
import { SignedBytes } from './signed-bytes.tsx';
import { TurnOnButton } from './stopped-endpoints.tsx';

/** One delivery: why it stands as it does, every attempt that failed and the last one, and the bytes that are signed. */
export function DeliveryPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { data: delivery } = useSuspenseQuery(deliveryQuery(id));
  return (
    <Page title={delivery.type} action={<ReplayButton delivery={delivery} />}>
      <Stack maw={900} gap="md">
        <Group gap="md">
          <DeliveryStatus status={delivery.status} />
          <Text size="sm">{summaryOf(delivery)}</Text>
        </Group>
        <Stopped delivery={delivery} />
        <Facts facts={factsOf(delivery)} />
        <Title order={2} size="h4">
          Attempts
        </Title>
        {delivery.attempts_log.length === 0 ? <Text c="dimmed">Nothing was sent yet.</Text> : null}
        {delivery.attempts_log.map((attempt, index) => (
          <AttemptPanel
            key={`${attempt.delivery_id} ${attempt.ended_at}`}
            attempt={attempt}
            body={delivery.body}
            isOpen={index === 0}
          />
        ))}
        <SignedBytes body={delivery.body} />
      </Stack>
    </Page>
  );
}

/** The state in one sentence: what happened last, and what happens next. */
function summaryOf(delivery: Delivery) {
  const { status, attempts, delay_ms: delayMs, next_attempt_at: next, response_code: code, error } = delivery;
  const tries = attempts === 1 ? 'once' : `${attempts} times`;
  const answer =
    code === null ? (error === null ? 'nothing answered' : plainError(error).sentence) : `your site answered ${code}`;
  if (status === 'succeeded') return `Arrived after ${formatDuration(delayMs ?? 0)}.`;
  if (status === 'dead_letter') return `Tried ${tries}, then given up: ${answer}. Replay it when your site is ready.`;
  if (status === 'held') return 'Held until webhooks are on again.';
  if (status === 'pending') return 'Waits to be sent.';
  return (
    <>
      Tried {tries}: {answer}.{' '}
      {next === null ? (
        'It is tried again now.'
      ) : (
        <>
          Next try <Time at={next} />.
        </>
      )}
    </>
  );
}

function Stopped({ delivery }: { delivery: Delivery }) {
  const { stop_reasons: reasons, status, integration_id: id, integration_name: name } = delivery;
  if (reasons.length === 0 || status === 'succeeded') return null;
  const isOff = reasons.some((reason) => reason === 'gone' || reason === 'webhooks_off');
  return (
    <Alert color="brass" title={`Nothing is sent to ${name}`} role="status">
      <Text size="sm" mb={isOff ? 'xs' : 0}>
        {reasons.map((reason) => STOP_REASON_LABELS[reason]).join(' ')}
      </Text>
      {isOff ? <TurnOnButton integrationId={id} /> : null}
    </Alert>
  );
}

function factsOf(delivery: Delivery): Parameters<typeof Facts>[0]['facts'] {
  const { object } = delivery;
  const objectPath = object === null || object.name === null ? null : pathOfId(object.id);
  return [
    ['Delivery', <CopyId key="id" id={delivery.id} label="delivery id" />],
    [
      'Event',
      <TextLink key="event" to={paths.event(delivery.event_id)}>
        {delivery.event_id}
      </TextLink>,
    ],
    [
      'Object',
      object === null ? (
        '–'
      ) : objectPath === null ? (
        (object.name ?? `${object.id}, which is gone`)
      ) : (
        <TextLink key="object" to={objectPath}>
          {object.name ?? object.id}
        </TextLink>
      ),
    ],
    [
      'Integration',
      <TextLink key="integration" to={paths.integration(delivery.integration_id)}>
        {delivery.integration_name}
      </TextLink>,
    ],
    ['Created', <Time key="created" at={delivery.created_at} />],
  ];
}
