import { Button, Checkbox, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { EVENT_MEANINGS } from '../../../../../src/contract/dashboard/integrations/event-meanings.ts';
import { EVENT_TYPES, type EventType } from '../../../../../src/contract/event-types.ts';
import { useOperation } from '../../../api/queries.ts';
import { toastUndo } from '../../../ui/feedback/undo-toast.tsx';
import { LeaveGuard } from '../../../ui/page/leave-guard.tsx';
import { refreshIntegration } from '../integration-parts.tsx';
import type { Integration } from '../integration-queries.ts';

const TYPES = (Object.keys(EVENT_TYPES) as EventType[]).filter((type) => !type.startsWith('integration.'));
const GROUPS = [...new Set(TYPES.map((type) => type.split('.', 1)[0] ?? ''))];
const LABELS: Record<string, string> = { listing: 'Watches', part: 'Parts', order: 'Orders' };

/** Which events are sent: all, all of a kind, or single ones. */
export function EventTree({ integration: { id, webhook } }: { integration: Integration }) {
  const stored = selectionOf(webhook.subscribed_events);
  const [edited, setEdited] = useState<ReadonlySet<string> | null>(null);
  const chosen = edited ?? stored;
  const save = useOperation('PUT /integrations/{integration_id}/webhook/events', {
    onSuccess() {
      setEdited(null);
      refreshIntegration(id);
      const before = webhook.subscribed_events;
      toastUndo('Events saved.', () => store(before));
    },
  });
  const store = (names: string[]) =>
    save.mutate({ params: { integration_id: id }, body: { subscribed_events: names } });
  const set = (types: readonly string[], isOn: boolean) => {
    const next = new Set(chosen);
    for (const type of types) isOn ? next.add(type) : next.delete(type);
    setEdited(next);
  };
  return (
    <Stack gap="xs" align="flex-start">
      <Title order={2} size="h4">
        Events
      </Title>
      <LeaveGuard isDirty={edited !== null} />
      <Branch label="All events" types={TYPES} chosen={chosen} onChange={set} />
      {GROUPS.map((group) => {
        const types = TYPES.filter((type) => type.startsWith(`${group}.`));
        return (
          <Stack key={group} gap={6} pl="lg">
            <Branch label={LABELS[group] ?? group} types={types} chosen={chosen} onChange={set} />
            {types.map((type) => (
              <Checkbox
                key={type}
                ml="lg"
                label={<code>{type}</code>}
                description={EVENT_MEANINGS[type]}
                checked={chosen.has(type)}
                onChange={(event) => set([type], event.currentTarget.checked)}
              />
            ))}
          </Stack>
        );
      })}
      <Text size="xs" c="dimmed">
        Test events are always sent.
      </Text>
      <Group gap="xs">
        <Button
          variant="default"
          disabled={edited === null}
          loading={save.isPending}
          onClick={() => store(namesOf(chosen))}
        >
          Save events
        </Button>
        {edited === null ? null : (
          <Button variant="subtle" onClick={() => setEdited(null)}>
            Discard
          </Button>
        )}
      </Group>
    </Stack>
  );
}

type BranchProps = {
  label: string;
  types: readonly string[];
  chosen: ReadonlySet<string>;
  onChange: (types: readonly string[], isOn: boolean) => void;
};

function Branch({ label, types, chosen, onChange }: BranchProps) {
  const count = types.filter((type) => chosen.has(type)).length;
  return (
    <Checkbox
      label={label}
      fw={600}
      checked={count === types.length}
      indeterminate={count > 0 && count < types.length}
      onChange={(event) => onChange(types, event.currentTarget.checked)}
    />
  );
}

function selectionOf(names: readonly string[]): Set<string> {
  const isWanted = (type: string) =>
    names.some((name) => name === '*' || name === type || (name.endsWith('.*') && type.startsWith(name.slice(0, -1))));
  return new Set(TYPES.filter(isWanted));
}

/** A whole branch is stored as its wildcard, so that it holds for events of the future, too. */
function namesOf(chosen: ReadonlySet<string>): string[] {
  if (TYPES.every((type) => chosen.has(type))) return ['*'];
  return GROUPS.flatMap((group) => {
    const types = TYPES.filter((type) => type.startsWith(`${group}.`));
    const wanted = types.filter((type) => chosen.has(type));
    return wanted.length === types.length ? [`${group}.*`] : wanted;
  });
}
