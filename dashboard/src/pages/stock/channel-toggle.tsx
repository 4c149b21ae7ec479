import { Group, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { readAnew, useOperation } from '../../api/queries.ts';
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
    toggle.mutate(
      { params, body: { is_on: next } },
      {
        onSuccess: async ({ audit_id: auditId }) => {
          offer(next ? `Published on ${channel.name}.` : `Taken off ${channel.name}.`, auditId);
          // Until the list has the new state, the wanted one is shown: else the switch would jump back for a moment.
          await readAnew('item');
          setWanted(null);
        },
        // A refusal falls back to the state that stands.
        onError: () => setWanted(null),
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
