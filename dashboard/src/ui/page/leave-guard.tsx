import { Button, Group, Modal, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useCallback } from 'react';

type LeaveGuardProps = {
  /** There is something on the page that leaving it would lose. */
  isDirty: boolean;
  /** What would be lost; "your unsaved changes" if it says nothing. */
  what?: string;
};

/** Asks before a page with unsaved changes is left, for another page, another tab of it, or altogether. */
export function LeaveGuard({ isDirty, what = 'your unsaved changes' }: LeaveGuardProps) {
  // The same function while nothing changes: a new one would put the guard up anew at every letter.
  const isBlocked = useCallback(() => isDirty, [isDirty]);
  const blocker = useBlocker({ shouldBlockFn: isBlocked, enableBeforeUnload: isBlocked, withResolver: true });
  if (blocker.status !== 'blocked') return null;
  return (
    <Modal opened onClose={blocker.reset} title="Leave this page?">
      <Text size="sm">If you leave now, {what} will be lost.</Text>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={blocker.proceed}>
          Leave
        </Button>
        <Button onClick={blocker.reset} data-autofocus>
          Stay
        </Button>
      </Group>
    </Modal>
  );
}
