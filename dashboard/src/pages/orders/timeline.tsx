import { Anchor, Skeleton, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { AUDIT_ACTION_LABELS } from '../../../../src/contract/audit-actions.ts';
import { paths } from '../../paths.ts';
import { ErrorState } from '../../ui/page/states.tsx';
import { Status } from '../../ui/status.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { plainError } from '../deliveries/attempts/plain-error.ts';
import { DELIVERY_TONES } from '../deliveries/delivery-parts.tsx';
import { type TimelineEntry, timelineQuery } from './order-queries.ts';

/** What happened to the order, newest first: who did what, which event the site got, and which request began it. */
export function Timeline({ orderId, channelName }: { orderId: string; channelName: string | null }) {
  const { data, error, refetch } = useQuery(timelineQuery(orderId));
  return (
    <section className="order-section" aria-labelledby="order-timeline">
      <Title order={2} size="h4" id="order-timeline">
        Timeline
      </Title>
      {data === undefined ? (
        error === null ? (
          <Skeleton height={120} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <>
          <ol className="timeline">
            {data.entries.map((entry) => (
              <li key={keyOf(entry)} data-kind={entry.kind}>
                <Entry entry={entry} channelName={channelName ?? 'the website'} />
              </li>
            ))}
          </ol>
          {data.is_cut ? (
            <Text size="sm">
              The oldest entries are left out.{' '}
              <Anchor component={Link} to={paths.audit()} search={{ object_id: orderId } as never} inherit>
                See all changes
              </Anchor>
            </Text>
          ) : null}
        </>
      )}
    </section>
  );
}

function keyOf(entry: TimelineEntry): string {
  if (entry.kind === 'change') return entry.audit_id;
  return entry.kind === 'event' ? entry.event_id : entry.what;
}

function Entry({ entry, channelName }: { entry: TimelineEntry; channelName: string }) {
  switch (entry.kind) {
    case 'request':
      return (
        <Happening
          at={entry.at}
          what={entry.what === 'reported' ? `Reported by ${channelName}` : `Cancelled by ${channelName}`}
        >
          {entry.reason === null ? null : <Text size="sm">“{entry.reason}”</Text>}
          {entry.what === 'cancelled' ? (
            <Text size="sm" c="dimmed">
              No webhook: {channelName} cancelled it itself and is not told of its own changes.
            </Text>
          ) : null}
          {entry.request_id === null ? null : (
            <Text size="sm">
              API request{' '}
              <TextLink to={paths.request(entry.request_id)}>
                <code>{entry.request_id}</code>
              </TextLink>
            </Text>
          )}
        </Happening>
      );
    case 'change':
      return (
        <Happening at={entry.at} what={AUDIT_ACTION_LABELS[entry.action]} who={entry.actor}>
          {entry.items.map(({ id, name }) => (
            <Text key={id} size="sm">
              {name === null ? (
                id
              ) : (
                <Anchor component={Link} to={paths.item(id)} inherit>
                  {name}
                </Anchor>
              )}
            </Text>
          ))}
          {entry.reason === null ? null : <Text size="sm">“{entry.reason}”</Text>}
        </Happening>
      );
    case 'event':
      return (
        <Happening at={entry.at} what={<code>{entry.type}</code>}>
          <DeliveryState entry={entry} />
        </Happening>
      );
  }
}

type HappeningProps = { at: string; what: ReactNode; who?: string; children?: ReactNode };

function Happening({ at, what, who, children }: HappeningProps) {
  return (
    <>
      <div className="timeline-head">
        <Text size="sm" component="span">
          {what}
          {who === undefined ? null : (
            <Text span c="dimmed">
              {' '}
              by {who}
            </Text>
          )}
        </Text>
        <Text size="xs" c="dimmed" component="span">
          <Time at={at} />
        </Text>
      </div>
      {children}
    </>
  );
}

type EventEntry = Extract<TimelineEntry, { kind: 'event' }>;
type Delivery = NonNullable<EventEntry['delivery']>;

function DeliveryState({ entry }: { entry: EventEntry }) {
  const { delivery } = entry;
  if (delivery === null) {
    return (
      <Text size="sm" c="dimmed">
        {entry.is_suppressed
          ? 'Not sent: the website did this itself.'
          : 'Not sent: the channel has no webhook URL, or does not subscribe to it.'}{' '}
        <TextLink to={paths.event(entry.event_id)}>See why</TextLink>
      </Text>
    );
  }
  return (
    <div className="timeline-delivery">
      <Status tone={DELIVERY_TONES[delivery.status]}>{deliveryText(delivery)}</Status>
      {delivery.status === 'failed' && delivery.due_at !== null ? (
        <Text size="sm" c="dimmed">
          Next attempt <Time at={delivery.due_at} isPlanned />
        </Text>
      ) : null}
      <TextLink to={paths.delivery(delivery.id)}>
        <code>{delivery.id}</code>
      </TextLink>
    </div>
  );
}

function deliveryText({ status, attempts, last_response_code: code, last_error: error }: Delivery): string {
  const answer =
    code === null ? (error === null ? 'nothing answered' : plainError(error).sentence) : `answered ${code}`;
  const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  switch (status) {
    case 'succeeded':
      return `Delivered, ${answer}`;
    case 'pending':
      return 'Being sent';
    case 'failed':
      return `Failed, ${times}, ${answer}`;
    case 'held':
      return 'Held while webhooks are off';
    case 'dead_letter':
      return `Given up after ${times}, ${answer}`;
  }
}
