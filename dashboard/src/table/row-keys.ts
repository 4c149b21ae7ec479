import { useEffect, useState } from 'react';
import { isTyping } from '../shell/shortcuts.tsx';

type RowKeys = {
  count: number;
  onOpen: (index: number) => void;
  onSelect: (index: number) => void;
  onClear: () => void;
};

/** j and k move over the rows, x selects, Escape clears the selection, Enter and e open. Returns the row that the keys are on; −1 is none. */
export function useRowKeys({ count, onOpen, onSelect, onClear }: RowKeys): number {
  const [active, setActive] = useState(-1);
  useEffect(() => {
    function move(index: number): void {
      setActive(index);
      document.querySelectorAll('.data-table [data-row]')[index]?.scrollIntoView({ block: 'nearest' });
    }
    function onKey(event: KeyboardEvent): void {
      // "g" and a letter went to a page.
      if (event.defaultPrevented) return;
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || isDialogOpen()) return;
      const isElsewhere = event.target instanceof Element && event.target.closest('a, button') !== null;
      if (event.key === 'j') move(Math.min(active + 1, count - 1));
      else if (event.key === 'k') move(Math.max(active - 1, 0));
      else if (event.key === 'x' && active >= 0) onSelect(active);
      else if (event.key === 'Escape') onClear();
      else if (event.key === 'e' && active >= 0) onOpen(active);
      else if (event.key === 'Enter' && active >= 0 && !isElsewhere) onOpen(active);
    }
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [active, count, onOpen, onSelect, onClear]);
  return Math.min(active, count - 1);
}

/** Keys belong to the dialog or menu that is open, not to the rows behind it. */
function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="menu"]') !== null;
}
