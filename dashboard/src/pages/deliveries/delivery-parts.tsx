import { Group, Text } from '@mantine/core';
import {
  DELIVERY_STATUS_LABELS,
  type DeliveryStatusName,
} from '../../../../src/contract/dashboard/integrations/delivery-labels.ts';
import { formatDuration } from '../../format.ts';
import { Nothing } from '../../ui/nothing.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import { Thumbnail } from '../../ui/thumbnail.tsx';
import { plainError } from './attempts/plain-error.ts';
import type { DeliveryRow } from './delivery-queries.ts';

export const DELIVERY_TONES: Record<DeliveryStatusName, Tone> = {
  pending: 'busy',
  failed: 'warn',
  held: 'off',
  dead_letter: 'bad',
  succeeded: 'good',
};

export function DeliveryStatus({ status }: { status: DeliveryStatusName }) {
  return <Status tone={DELIVERY_TONES[status]}>{DELIVERY_STATUS_LABELS[status]}</Status>;
}

/** What an event is about: a photo and a title, or the number of an order. */
export function ObjectCell({ object }: { object: DeliveryRow['object'] }) {
  if (object === null) return <Nothing />;
  const isItem = /^(lst|prt)_/.test(object.id);
  return (
    <Group gap="xs" wrap="nowrap">
      {isItem ? <Thumbnail url={object.photo_url} kind={object.id.startsWith('prt_') ? 'part' : 'listing'} /> : null}
      <div className="item-name object-name">
        <Text size="sm" truncate>
          {object.name ?? object.id}
        </Text>
        {object.detail === null ? null : (
          <Text size="xs" c="dimmed" truncate>
            {object.detail}
          </Text>
        )}
      </div>
    </Group>
  );
}

/** The code that the receiver answered with, or why nothing did. */
export function AnswerCell({ row }: { row: Pick<DeliveryRow, 'response_code' | 'error'> }) {
  if (row.response_code !== null) return <code>{row.response_code}</code>;
  return row.error === null ? <Nothing /> : <Text size="sm">{plainError(row.error).short}</Text>;
}

export function DelayCell({ ms }: { ms: number | null }) {
  return ms === null ? <Nothing /> : formatDuration(ms);
}
