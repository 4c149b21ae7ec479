import { Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from '../dialog.tsx';
import { DoubleClickGuard } from '../double-click-guard.tsx';

type ConfirmProps = {
  isOpen: boolean;
  title: string;
  /** The verb on the button, such as "Remove". */
  verb: string;
  /** The way out, which says what stays as it is: "Keep the sale". "Cancel" would say too little, or the opposite. */
  keep?: string;
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
  const { isOpen, title, verb, keep = 'Cancel', isDangerous, isBusy, onConfirm, onClose, children } = props;
  return (
    <Dialog opened={isOpen} onClose={onClose} title={title}>
      <Text size="sm" component="div">
        {children}
      </Text>
      <Group justify="flex-end" mt="lg">
        <DoubleClickGuard>
          <Button variant="default" onClick={onClose}>
            {keep}
          </Button>
          <Button
            color={isDangerous ? 'ruby' : undefined}
            loading={isBusy}
            disabled={props.isDisabled}
            onClick={onConfirm}
          >
            {verb}
          </Button>
        </DoubleClickGuard>
      </Group>
    </Dialog>
  );
}
