import { ActionIcon, Switch, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useId } from 'react';
import { formatMoney } from '../../../format.ts';
import { paths } from '../../../paths.ts';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Status } from '../../../ui/status.tsx';
import { TestBadge } from '../../../ui/test-badge.tsx';
import { TextLink } from '../../../ui/text-link.tsx';
import { Time } from '../../../ui/time.tsx';
import type { ItemChannel } from '../item-queries.ts';
import { LastEventOutcome } from './last-event-outcome.tsx';
import { PriceSteps } from './price-steps.tsx';

type ChannelRowProps = {
  /** Null before the item is saved. */
  itemId: string | null;
  channel: ItemChannel;
  isOn: boolean;
  isDraft: boolean;
  onChange: (isOn: boolean) => void;
};

/** One site in one row. What went wrong stands below; the arithmetic, events and what the site reads open on demand. */
export function ChannelRow({ itemId, channel, isOn, isDraft, onChange }: ChannelRowProps) {
  const [isOpen, details] = useDisclosure(false);
  const id = useId();
  const { name, price, promotion_price: promotion } = channel;
  return (
    <li className="item-channel">
      <div className="item-channel-row">
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={`Details of ${name}`}
          aria-expanded={isOpen}
          aria-controls={isOpen ? `${id}details` : undefined}
          onClick={details.toggle}
        >
          <Icon name={isOpen ? 'down' : 'forward'} size={14} />
        </ActionIcon>
        <label htmlFor={id} className="item-channel-name" title={name}>
          <span>{name}</span>
          {channel.is_test_mode ? <TestBadge /> : null}
        </label>
        <span className="item-channel-state">
          {itemId === null ? null : isOn ? <Status tone="good">Published</Status> : <Status tone="off">Off</Status>}
        </span>
        <span className="item-channel-price figures">
          <ShownPrice steps={promotion ?? price} />
        </span>
        <Switch
          id={id}
          size="sm"
          checked={isOn}
          disabled={itemId === null}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      </div>
      <Problems channel={channel} itemId={itemId} isShown={!isOpen} />
      {isOpen ? (
        <div id={`${id}details`} className="item-channel-details">
          <PriceSteps label="Price" steps={price} />
          {promotion === null ? null : <PriceSteps label="Promotion" steps={promotion} />}
          {isOn || itemId === null ? null : (
            <Text size="sm" c="dimmed">
              Not on this channel: {name} can’t read it and is not told of changes.
            </Text>
          )}
          <LastEvent channel={channel} itemId={itemId} />
          <Text size="sm">{isOn && !isDraft ? `What ${name} reads` : `What ${name} would read`}</Text>
          {channel.document === null ? (
            <Text size="sm" c="dimmed">
              This item is too long to be shown as JSON for each of your channels.
            </Text>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
            <section aria-label={`JSON on ${name}`} className="item-json" tabIndex={0}>
              <CodeBlock>{JSON.stringify(channel.document, null, 2)}</CodeBlock>
            </section>
          )}
        </div>
      ) : null}
    </li>
  );
}

function ShownPrice({ steps }: { steps: ItemChannel['price'] }) {
  if (steps === null) return <span className="dimmed">On request</span>;
  return steps.price === null ? <span className="dimmed">No price</span> : formatMoney(steps.price, steps.currency);
}

type ProblemsProps = { itemId: string | null; channel: ItemChannel; isShown: boolean };

/** Only what somebody should see without asking. The details have it, too. */
function Problems({ itemId, channel, isShown }: ProblemsProps) {
  const { price, promotion_price: promotion, last_event: event } = channel;
  const isUnpriced = price?.price === null || promotion?.price === null;
  const isUnheard = event !== null && !['succeeded', 'pending'].includes(event.delivery?.status ?? '');
  if (!isShown || !(isUnpriced || isUnheard)) return null;
  return (
    <div className="item-channel-details">
      {price?.price === null ? <PriceSteps label="Price" steps={price} /> : null}
      {promotion?.price === null ? <PriceSteps label="Promotion" steps={promotion} /> : null}
      {isUnheard ? <LastEvent channel={channel} itemId={itemId} /> : null}
    </div>
  );
}

function LastEvent({ itemId, channel }: { itemId: string | null; channel: ItemChannel }) {
  if (channel.last_event === null || itemId === null) return null;
  return (
    <Text size="xs" c="dimmed">
      Last event: <TextLink to={paths.event(channel.last_event.id)}>{channel.last_event.type}</TextLink>{' '}
      <Time at={channel.last_event.created_at} />{' '}
      <LastEventOutcome event={channel.last_event} stopReasons={channel.stop_reasons} />{' '}
      <span className="item-channel-all">
        <TextLink to={paths.events()} search={{ object_id: itemId, integration_id: channel.integration_id }}>
          All events
        </TextLink>
      </span>
    </Text>
  );
}
