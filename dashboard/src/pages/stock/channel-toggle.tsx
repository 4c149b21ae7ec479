import { Group, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { useOperation } from '../../api/queries.ts';
import { formatMoney } from '../../format.ts';
import { useUndo } from '../audit/undo.ts';
import type { StockChoices, StockItem } from './stock-queries.ts';

type Channel = StockChoices['channels'][number];
/** `isNamed` where no header says which channel it is. */
type ChannelToggleProps = { item: StockItem; channel: Channel; isNamed?: boolean };

/** The toggle of one item on one channel, with the price that the site shows there. It answers before the service does. */
export function ChannelToggle({ item, channel, isNamed = false }: ChannelToggleProps) {
  const entry = item.channels.find((one) => one.integration_id === channel.integration_id);
  const [wanted, setWanted] = useState<boolean | null>(null);
  const toggle = useOperation('PUT /stock/{item_id}/channels/{integration_id}');
  const { offer } = useUndo();
  const isOn = wanted ?? entry?.is_on ?? false;
  const change = (next: boolean) => {
    setWanted(next);
    const params = { item_id: item.id, integration_id: channel.integration_id };
    // The live stream brings the new state; a refusal falls back to the one that stands.
    toggle.mutate(
      { params, body: { is_on: next } },
      {
        onSuccess: ({ audit_id: auditId }) =>
          offer(next ? `Published on ${channel.name}.` : `Taken off ${channel.name}.`, auditId),
        onSettled: () => setWanted(null),
      },
    );
  };
  return (
    <Group gap={6} wrap="nowrap">
      <Switch
        size="xs"
        checked={isOn}
        onChange={(event) => change(event.currentTarget.checked)}
        aria-label={`${item.title} on ${channel.name}`}
      />
      <Text size="xs" c="dimmed" className="figures" truncate>
        {isNamed ? channel.name : isOn ? channelPrice(entry) : ''}
      </Text>
    </Group>
  );
}

function channelPrice(entry: StockItem['channels'][number] | undefined): string {
  if (entry === undefined || entry.status === null) return '';
  return entry.price === null ? 'on request' : formatMoney(entry.price.amount, entry.price.currency);
}
