import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

type ReasonButtonProps = ButtonProps & {
  type?: 'button' | 'submit';
  reason: string | null;
  onClick: () => void;
  children: ReactNode;
};

/** A button that, while it can't be used, is disabled with its reason: on hover, on focus, and for screen readers. */
export function ReasonButton({ reason, onClick, children, ...button }: ReasonButtonProps) {
  return (
    <Tooltip label={reason} disabled={reason === null} events={{ hover: true, focus: true, touch: true }}>
      <Button
        {...button}
        aria-disabled={reason !== null || undefined}
        data-disabled={reason !== null || undefined}
        title={reason ?? undefined}
        onClick={() => reason === null && onClick()}
      >
        {children}
      </Button>
    </Tooltip>
  );
}
