import { Group, Stack, Text, Title } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { UNSENT_REASON_TEXTS } from '../../../../src/contract/dashboard/integrations/delivery-labels.ts';
import { EVENT_MEANINGS } from '../../../../src/contract/dashboard/integrations/event-meanings.ts';
import type { EventType } from '../../../../src/contract/event-types.ts';
import { REQUEST_LOG_DAYS } from '../../../../src/contract/limits.ts';
import { pathOfId, paths } from '../../paths.ts';
import { CopyId } from '../../ui/copy-id.tsx';
import { Page } from '../../ui/page/page.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { SignedBody } from '../deliveries/attempts/signed-body.tsx';
import { DeliverySummary } from '../deliveries/delivery-summary.tsx';
import { StoppedAlert } from '../deliveries/stopped-alert.tsx';
import { Facts } from '../integrations/integration-parts.tsx';
import { EventOutcome } from './event-outcome.tsx';
import { type EventDetails, eventQuery } from './event-queries.ts';

/** One event: what it is about, what became of it, and what caused it. */
export function EventPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { data: event } = useSuspenseQuery(eventQuery(id));
  return (
    <Page title={event.type}>
      <Stack maw={900} gap="md">
        <Group gap="md">
          <EventOutcome event={event} />
          {event.delivery === null ? null : (
            <Text size="sm">
              <DeliverySummary delivery={event.delivery} name={event.integration_name} />
            </Text>
          )}
        </Group>
        <Unsent event={event} />
        {event.delivery === null || event.delivery.status === 'succeeded' ? null : (
          <StoppedAlert integrationId={event.integration_id} name={event.integration_name} stop={event} />
        )}
        <Facts facts={factsOf(event)} />
        <Cause event={event} />
        <SignedBody body={event.body} />
      </Stack>
    </Page>
  );
}

/** Why it was not sent, and where that can be changed. */
function Unsent({ event: { unsent_reason: reason, integration_id: integrationId } }: { event: EventDetails }) {
  if (reason === null) return null;
  const isSetting = reason === 'no_url' || reason === 'not_subscribed';
  return (
    <Text size="sm">
      {UNSENT_REASON_TEXTS[reason]}{' '}
      {isSetting ? (
        <TextLink to={paths.integration(integrationId)} search={{ tab: 'webhooks' }}>
          Webhook settings
        </TextLink>
      ) : null}
    </Text>
  );
}

function factsOf(event: EventDetails): Parameters<typeof Facts>[0]['facts'] {
  const { object, delivery } = event;
  const objectPath = object === null || object.name === null ? null : pathOfId(object.id);
  return [
    ['Event', <CopyId key="id" id={event.id} label="event id" />],
    ['Meaning', EVENT_MEANINGS[event.type as EventType] ?? event.type],
    [
      'Object',
      objectPath === null ? (
        (object?.name ?? object?.id ?? '–')
      ) : (
        <TextLink key="object" to={objectPath}>
          {object?.name ?? object?.id}
        </TextLink>
      ),
    ],
    [
      'Delivery',
      delivery === null ? (
        'None'
      ) : (
        <TextLink key="delivery" to={paths.delivery(delivery.id)}>
          {delivery.id}
        </TextLink>
      ),
    ],
    [
      'Integration',
      <TextLink key="integration" to={paths.integration(event.integration_id)}>
        {event.integration_name}
      </TextLink>,
    ],
    ['Created', <Time key="created" at={event.created_at} />],
  ];
}

function Cause({ event }: { event: EventDetails }) {
  const { changes, request_ids: requestIds } = event.cause;
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        What caused this event
      </Title>
      {changes.map((change) => (
        <Text size="sm" key={change.id}>
          {change.what} by {change.by ?? 'somebody who left'}, <Time at={change.at} />
        </Text>
      ))}
      {requestIds.map((requestId) => (
        <Text size="sm" key={requestId}>
          API request of the website:{' '}
          <TextLink to={paths.request(requestId)}>
            <code>{requestId}</code>
          </TextLink>
        </Text>
      ))}
      {changes.length === 0 && requestIds.length === 0 ? (
        <Text size="sm" c="dimmed">
          {event.unsent_reason === 'echo'
            ? `The website did this itself through the API, more than ${REQUEST_LOG_DAYS} days ago.`
            : 'Nobody changed the object itself: an order, a promotion or a setting of the channel did.'}
        </Text>
      ) : null}
    </section>
  );
}
