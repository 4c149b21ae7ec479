import { useEffect } from 'react';

/** The last control that had the focus on the page itself. A menu that opens a dialog is gone by then, and its items with it. */
let lastOnPage: HTMLElement | null = null;
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLElement && target.closest('[role="dialog"], [role="menu"]') === null) lastOnPage = target;
});

/**
 * Gives the focus back to what opened a dialog. Mantine's own way works only for dialogs that stay mounted while they are
 * closed.
 */
export function useReturnFocus(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    const opener = lastOnPage;
    return () => {
      const isLost = document.activeElement === null || document.activeElement === document.body;
      if (isLost && opener?.isConnected) opener.focus({ preventScroll: true });
    };
  }, [isOpen]);
}
