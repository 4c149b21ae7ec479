import { Code, Switch, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { ROUNDING_LABELS } from '../../../../src/contract/dashboard/integrations/integrations.ts';
import { useOperation } from '../../api/queries.ts';
import { formatMoney } from '../../format.ts';
import { paths } from '../../paths.ts';
import { Status } from '../../ui/status.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { useUndo } from '../audit/undo.ts';
import type { ItemChannel } from './item-queries.ts';
import { LastEventOutcome } from './last-event-outcome.tsx';

type ChannelsPanelProps = {
  /** Null before the item is saved: then there is nothing to switch on yet. */
  itemId: string | null;
  channels: ItemChannel[];
  isDraft: boolean;
  onChanged: () => Promise<void>;
};

/** On which sites the item is, what it costs there and why, and what the site reads. */
export function ChannelsPanel({ itemId, channels, isDraft, onChanged }: ChannelsPanelProps) {
  const toggle = useOperation('PUT /stock/{item_id}/channels/{integration_id}');
  const { offer } = useUndo();
  // Shown at once; a refusal falls back to what stands.
  const [wanted, setWanted] = useState<{ id: string; isOn: boolean } | null>(null);
  const change = (id: string, isOn: boolean) => {
    setWanted({ id, isOn });
    toggle.mutate(
      { params: { item_id: itemId ?? '', integration_id: id }, body: { is_on: isOn } },
      {
        onSuccess({ audit_id: auditId }) {
          const name = channels.find((channel) => channel.integration_id === id)?.name ?? 'the channel';
          offer(isOn ? `Published on ${name}.` : `Taken off ${name}.`, auditId);
        },
        onSettled: () => void onChanged().finally(() => setWanted(null)),
      },
    );
  };
  return (
    <section className="item-section" aria-label="Channels">
      <Title order={2} size="h4">
        Channels
      </Title>
      {isDraft && itemId !== null ? (
        <Text size="sm" role="status">
          <Status tone="warn">Preview of your unsaved changes</Status>
        </Text>
      ) : null}
      {channels.length === 0 ? (
        <Text size="sm" c="dimmed">
          {itemId === null
            ? 'Prices, and what your sites would read, appear here when the required fields are filled in.'
            : 'No integration yet. Your sites appear here.'}
        </Text>
      ) : null}
      {channels.length > 0 && itemId === null ? (
        <Text size="sm" c="dimmed">
          Save first. Then you switch on the channels on which sites may show it.
        </Text>
      ) : null}
      {channels.map((channel) => (
        <div key={channel.integration_id} className="item-channel">
          <Switch
            label={channel.is_test_mode ? `${channel.name} (test)` : channel.name}
            checked={wanted?.id === channel.integration_id ? wanted.isOn : channel.is_on}
            disabled={itemId === null}
            onChange={(event) => change(channel.integration_id, event.currentTarget.checked)}
          />
          <PriceArithmetic label="Price" steps={channel.price} />
          {channel.promotion_price === null ? null : (
            <PriceArithmetic label="Promotion" steps={channel.promotion_price} />
          )}
          {channel.is_on || itemId === null ? null : (
            <Text size="sm" c="dimmed">
              Not on this channel: {channel.name} can’t read it and is not told of changes.
            </Text>
          )}
          {channel.last_event === null || itemId === null ? null : (
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
          )}
          <details>
            <summary>
              {channel.is_on && !isDraft ? `What ${channel.name} reads` : `What ${channel.name} would read`}
            </summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
            <section aria-label={`JSON on ${channel.name}`} className="item-json" tabIndex={0}>
              <Code block>{JSON.stringify(channel.document, null, 2)}</Code>
            </section>
          </details>
        </div>
      ))}
    </section>
  );
}

const BASIS_POINTS_PER_PERCENT = 100;
const ROUNDINGS: Record<string, string> = ROUNDING_LABELS;

function PriceArithmetic({ label, steps }: { label: string; steps: ItemChannel['price'] }) {
  if (steps === null) {
    return (
      <Text size="sm" c="dimmed">
        {label}: on request
      </Text>
    );
  }
  if (steps.price === null) {
    return (
      <Text size="sm" c="var(--ruby)">
        {label}: there is no exchange rate from {steps.from.currency} to {steps.currency}.
      </Text>
    );
  }
  const parts = [formatMoney(steps.from.amount, steps.from.currency)];
  if (steps.rate !== null && steps.converted !== null) {
    parts.push(`× ${steps.rate} = ${formatMoney(steps.converted, steps.currency)}`);
  }
  if (steps.markup_basis_points !== 0 && steps.marked_up !== null) {
    const percent = steps.markup_basis_points / BASIS_POINTS_PER_PERCENT;
    parts.push(`${percent > 0 ? '+' : '−'} ${Math.abs(percent)} % = ${formatMoney(steps.marked_up, steps.currency)}`);
  }
  if (steps.rounding !== 'none') parts.push(`rounded ${ROUNDINGS[steps.rounding]?.toLowerCase() ?? steps.rounding}`);
  return (
    <div>
      <Text size="sm">
        {label}: <strong>{formatMoney(steps.price, steps.currency)}</strong>
      </Text>
      {parts.length > 1 ? (
        <Text size="xs" c="dimmed">
          {parts.join(' ')}
        </Text>
      ) : null}
    </div>
  );
}
