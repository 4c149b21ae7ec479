import { Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useOperation } from '../../../api/queries.ts';
import { Status } from '../../../ui/status.tsx';
import { useUndo } from '../../audit/undo.ts';
import type { ItemChannel } from '../item-queries.ts';
import { ChannelRow } from './channel-row.tsx';

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
      {channels.length === 0 ? null : (
        <ul className="plain-list item-channels">
          {channels.map((channel) => (
            <ChannelRow
              key={channel.integration_id}
              itemId={itemId}
              channel={channel}
              isOn={wanted?.id === channel.integration_id ? wanted.isOn : channel.is_on}
              isDraft={isDraft}
              onChange={(isOn) => change(channel.integration_id, isOn)}
            />
          ))}
        </ul>
      )}
    </section>
  );
}
