import { Button, Text } from '@mantine/core';
import type { AuditEntry } from './audit-queries.ts';
import { actionText } from './change-list.tsx';
import { useUndo } from './undo.ts';

/** Undo of one entry of the history, where it can be undone; what was undone says so. */
export function UndoButton({ entry }: { entry: AuditEntry }) {
  const { undo, isPending } = useUndo();
  if (entry.undone_by !== null) {
    return (
      <Text size="xs" c="dimmed" flex="none">
        Was undone
      </Text>
    );
  }
  if (!entry.is_undoable) return null;
  return (
    <Button
      size="compact-xs"
      variant="default"
      flex="none"
      loading={isPending}
      onClick={() => undo(entry.id, actionText(entry))}
    >
      Undo
    </Button>
  );
}
