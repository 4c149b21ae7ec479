import { Group, Stack, Text, Title } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { pathOfId, paths } from '../../paths.ts';
import { CopyId } from '../../ui/copy-id.tsx';
import { Page } from '../../ui/page/page.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { Facts } from '../integrations/integration-parts.tsx';
import { AttemptPanel, replaysIn } from './attempts/attempt-panel.tsx';
import { SignedBody } from './attempts/signed-body.tsx';
import { DeliveryStatus } from './delivery-parts.tsx';
import { type Delivery, deliveryQuery } from './delivery-queries.ts';
import { DeliverySummary } from './delivery-summary.tsx';
import { ReplayButton } from './replay-buttons.tsx';
import { StoppedAlert } from './stopped-alert.tsx';

/** One delivery: why it stands as it does, every attempt that failed and the last one, and the bytes that are signed. */
export function DeliveryPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { data: delivery } = useSuspenseQuery(deliveryQuery(id));
  const replays = replaysIn(delivery.attempts_log);
  return (
    <Page title={delivery.type} action={<ReplayButton delivery={delivery} />}>
      <Stack maw={900} gap="md">
        <Group gap="md">
          <DeliveryStatus status={delivery.status} />
          <Text size="sm">
            <DeliverySummary delivery={delivery} name={delivery.integration_name} />
          </Text>
        </Group>
        {delivery.status === 'succeeded' ? null : (
          <StoppedAlert integrationId={delivery.integration_id} name={delivery.integration_name} stop={delivery} />
        )}
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
            isReplay={replays[index] === true}
            isOpen={index === 0}
          />
        ))}
        <SignedBody body={delivery.body} />
      </Stack>
    </Page>
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
