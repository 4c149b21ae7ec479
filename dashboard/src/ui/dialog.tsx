import { Button, Group, Modal, type ModalProps, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { type ShouldBlockFn, useBlocker, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useReturnFocus } from './return-focus.ts';
import { layerAtKeydown } from './top-layer.ts';
import { useTypedInput } from './typed-input.ts';

type Step = Parameters<ShouldBlockFn>[0];

/**
 * Every dialog. Escape, ×, a click outside and the browser's Back close it at once while nothing was typed; else they ask first. Its
 * own buttons say what they do, and don't ask. Escape closes the topmost thing alone: a list of choices first, then the dialog
 * around it.
 */
export function Dialog({ opened, onClose, closeOnEscape = true, children, ...props }: ModalProps) {
  const [isAsking, setAsking] = useState(false);
  const content = useRef<HTMLDivElement>(null);
  const typed = useTypedInput();
  useReturnFocus(opened);
  const leaving = useLeaving(opened, typed.isThere, onClose);
  if (!opened && isAsking) setAsking(false);
  const close = () => (typed.isThere() ? setAsking(true) : onClose());
  const keep = () => {
    setAsking(false);
    leaving.reset?.();
  };
  const discard = () => {
    setAsking(false);
    if (leaving.status === 'blocked') leaving.proceed();
    else onClose();
  };
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
      <Modal opened={isAsking || leaving.status === 'blocked'} onClose={keep} title="Discard what you typed?">
        <Text size="sm">If you close this now, what you typed will be lost.</Text>
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={discard}>
            Discard
          </Button>
          <Button onClick={keep} data-autofocus>
            Keep editing
          </Button>
        </Group>
      </Modal>
    </>
  );
}

/** Asks before the page is left with something typed in a dialog of it: by Back, a shortcut, the palette, or altogether. */
function useLeaving(opened: boolean, isTyped: () => boolean, onClose: () => void) {
  const router = useRouter();
  const hasProceeded = useRef(false);
  const shouldAsk = useCallback(() => opened && isTyped(), [opened, isTyped]);
  const isLoss = useCallback(
    ({ action, current, next }: Step) => shouldAsk() && (isPop(action) || next.pathname !== current.pathname),
    [shouldAsk],
  );
  const blocker = useBlocker({ shouldBlockFn: isLoss, enableBeforeUnload: shouldAsk, withResolver: true });
  // Where Back only changes the filters of a list, the page stays, and its dialog would, too.
  useEffect(
    () =>
      router.subscribe('onResolved', () => {
        if (hasProceeded.current) onClose();
        hasProceeded.current = false;
      }),
    [router, onClose],
  );
  if (blocker.status !== 'blocked') return blocker;
  const proceed = () => {
    hasProceeded.current = true;
    blocker.proceed();
  };
  return { ...blocker, proceed };
}

/** What a dialog does to the address of its own page is no way to leave it. */
function isPop(action: Step['action']): boolean {
  return action !== 'PUSH' && action !== 'REPLACE';
}
