import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';

/** Long enough to read it and to reach the button. */
const SHOWN_MS = 12_000;

/** Says what was done, with a button that takes it back. */
export function toastUndo(message: string, onUndo: () => void): void {
  const id = notifications.show({
    color: 'jade',
    autoClose: SHOWN_MS,
    message: (
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            notifications.hide(id);
            onUndo();
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  });
}
