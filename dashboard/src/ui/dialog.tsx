import { Button, Group, Modal, type ModalProps, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useRef, useState } from 'react';
import { useReturnFocus } from './return-focus.ts';
import { layerAtKeydown } from './top-layer.ts';
import { useTypedInput } from './typed-input.ts';

/**
 * Every dialog. Escape, × and a click outside close it at once while nothing was typed; else they ask first. Its own buttons say
 * what they do, and don't ask. Escape closes the topmost thing alone: a list of choices first, then the dialog around it.
 */
export function Dialog({ opened, onClose, closeOnEscape = true, children, ...props }: ModalProps) {
  const [isAsking, setAsking] = useState(false);
  const content = useRef<HTMLDivElement>(null);
  const typed = useTypedInput();
  useReturnFocus(opened);
  if (!opened && isAsking) setAsking(false);
  const close = () => (typed.isThere() ? setAsking(true) : onClose());
  useWindowEvent('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing || !opened || !closeOnEscape) return;
    if (content.current !== null && layerAtKeydown() === content.current.closest('[role="dialog"]')) close();
  });
  return (
    <>
      <Modal {...props} opened={opened} onClose={close} closeOnEscape={false}>
        <div ref={content}>
          <div ref={typed.ref}>{children}</div>
        </div>
      </Modal>
      <Modal opened={isAsking} onClose={() => setAsking(false)} title="Discard what you typed?">
        <Text size="sm">If you close this now, what you typed will be lost.</Text>
        <Group justify="flex-end" mt="lg">
          <Button
            variant="default"
            onClick={() => {
              setAsking(false);
              onClose();
            }}
          >
            Discard
          </Button>
          <Button onClick={() => setAsking(false)} data-autofocus>
            Keep editing
          </Button>
        </Group>
      </Modal>
    </>
  );
}
