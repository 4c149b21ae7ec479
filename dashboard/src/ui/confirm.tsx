import { Button, Group, Modal, Text } from '@mantine/core';
import type { ReactNode } from 'react';

type ConfirmProps = {
  isOpen: boolean;
  title: string;
  /** The verb on the button, such as "Remove". */
  verb: string;
  isDangerous?: boolean;
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
};

/** Asks before something that can't be undone. */
export function Confirm({ isOpen, title, verb, isDangerous, isBusy, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      <Text size="sm" component="div">
        {children}
      </Text>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button color={isDangerous ? 'ruby' : undefined} loading={isBusy} onClick={onConfirm}>
          {verb}
        </Button>
      </Group>
    </Modal>
  );
}
