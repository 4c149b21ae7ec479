import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { AUDIT_ACTION_LABELS } from '../../../../src/contract/audit-actions.ts';
import { read } from '../../api/queries.ts';
import { Time } from '../../ui/time.tsx';

const SHOWN = 20;

/** Who did what to the item, newest first. */
export function HistoryPanel({ itemId }: { itemId: string }) {
  const { data } = useQuery(
    read('GET /audit', { query: { object_id: itemId, object_kind: 'item', limit: SHOWN } }, ['audit', 'item']),
  );
  return (
    <section className="item-section" aria-label="History">
      <Title order={2} size="h4">
        History
      </Title>
      <ul className="item-history">
        {(data?.data ?? []).map((entry) => (
          <li key={entry.id}>
            <Text size="sm">
              {AUDIT_ACTION_LABELS[entry.action]}{' '}
              <Text component="span" size="xs" c="dimmed">
                {entry.actor.name ?? entry.actor.kind.replaceAll('_', ' ')}, <Time at={entry.at} />
              </Text>
            </Text>
            {entry.changes.map(({ field, old, new: now }) => (
              <Text key={field} size="xs" c="dimmed" className="item-change">
                {LABELS[field] ?? field}: {old === null ? '' : <s>{textOf(old)}</s>} {textOf(now)}
              </Text>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The audit log has the service's own names of fields. */
const LABELS: Record<string, string> = {
  kind: 'Kind',
  stockNumber: 'Stock number',
  title: 'Title',
  description: 'Description',
  priceAmount: 'Price (minor units)',
  taxTreatment: 'Tax',
  locationId: 'Location',
  serialNumber: 'Serial number',
  costAmount: 'Cost (minor units)',
  privateNotes: 'Notes',
  units: 'Units',
  reservedUnits: 'Reserved units',
  attributes: 'Attributes',
  isHidden: 'Hidden',
  isOn: 'On the channel',
  integrationId: 'Channel',
  photoId: 'Photo',
  photoIds: 'Photos',
  position: 'Position',
  movement: 'Movement',
};

const TEXT_LIMIT = 120;

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > TEXT_LIMIT ? `${text.slice(0, TEXT_LIMIT)}…` : text;
}
