import { Button, Group, Modal, Table, Text } from '@mantine/core';
import type { ItemValues } from './item-form.ts';

export type Conflict = { field: string; mine: unknown; theirs: unknown };

type ConflictDialogProps = {
  conflicts: Conflict[];
  /** Keeps what the colleague saved in these fields, or overwrites it. */
  onChoose: (choice: 'mine' | 'theirs') => void;
  onClose: () => void;
};

/** Both versions side by side: somebody else has saved meanwhile. Nothing is lost until the person chooses. */
export function ConflictDialog({ conflicts, onChoose, onClose }: ConflictDialogProps) {
  return (
    <Modal opened onClose={onClose} size="lg" title="A colleague has saved this item meanwhile">
      <Text size="sm" mb="sm">
        {conflicts.length === 0
          ? 'Their changes are in other fields than yours. Save again to keep both.'
          : 'You both changed these fields:'}
      </Text>
      {conflicts.length === 0 ? null : (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th>Yours</Table.Th>
              <Table.Th>Theirs</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {conflicts.map(({ field, mine, theirs }) => (
              <Table.Tr key={field}>
                <Table.Td>{field.replaceAll('_', ' ')}</Table.Td>
                <Table.Td>{textOf(mine)}</Table.Td>
                <Table.Td>{textOf(theirs)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={() => onChoose('theirs')}>
          Take theirs
        </Button>
        <Button onClick={() => onChoose('mine')}>Keep mine</Button>
      </Group>
    </Modal>
  );
}

/** The fields that both changed, each from `base`, to different values. */
export function conflictsOf(base: ItemValues, mine: ItemValues, theirs: ItemValues): Conflict[] {
  const flat = ({ attributes, ...rest }: ItemValues): Record<string, unknown> => ({ ...attributes, ...rest });
  const [before, own, other] = [flat(base), flat(mine), flat(theirs)];
  const differs = (one: unknown, two: unknown) => JSON.stringify(one ?? null) !== JSON.stringify(two ?? null);
  return Object.keys(own)
    .filter((field) => differs(before[field], own[field]) && differs(before[field], other[field]))
    .filter((field) => differs(own[field], other[field]))
    .map((field) => ({ field, mine: own[field], theirs: other[field] }));
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
