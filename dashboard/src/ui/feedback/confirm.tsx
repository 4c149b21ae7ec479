import { Button, Group, Modal, Text } from '@mantine/core';
import type { ReactNode } from 'react';

type ConfirmProps = {
  isOpen: boolean;
  title: string;
  /** The verb on the button, such as "Remove". */
  verb: string;
  isDangerous?: boolean;
  isBusy?: boolean;
  /** Something has to be filled in first. */
  isDisabled?: boolean;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
};

/** Asks before something that can't be undone. */
export function Confirm(props: ConfirmProps) {
  const { isOpen, title, verb, isDangerous, isBusy, isDisabled = false, onConfirm, onClose, children } = props;
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      <Text size="sm" component="div">
        {children}
      </Text>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button color={isDangerous ? 'ruby' : undefined} loading={isBusy} disabled={isDisabled} onClick={onConfirm}>
          {verb}
        </Button>
      </Group>
    </Modal>
  );
}
