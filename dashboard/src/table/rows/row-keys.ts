import { useEffect, useRef, useState } from 'react';
import { isTyping } from '../../shell/navigation/shortcuts.tsx';
import { layerAtKeydown } from '../../ui/top-layer.ts';

type RowKeys = {
  count: number;
  onOpen: (index: number) => void;
  onSelect: (index: number) => void;
  onClear: () => void;
};

/** j and k move over the rows, x selects, Escape clears the selection, Enter and e open. Returns the row that the keys are on; −1 is none. */
export function useRowKeys({ count, onOpen, onSelect, onClear }: RowKeys): number {
  const [active, setActive] = useState(-1);
  // Keys may come faster than the page is drawn: each counts from where the one before led.
  const current = useRef(-1);
  useEffect(() => {
    function move(index: number): void {
      current.current = index;
      setActive(index);
      document.querySelectorAll('.data-table [data-row]')[index]?.scrollIntoView({ block: 'nearest' });
    }
    function onKey(event: KeyboardEvent): void {
      // "g" and a letter went to a page.
      if (event.defaultPrevented) return;
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (layerAtKeydown() !== null) return;
      const at = current.current;
      const isElsewhere = event.target instanceof Element && event.target.closest('a, button') !== null;
      if (event.key === 'j') move(Math.min(at + 1, count - 1));
      else if (event.key === 'k') move(Math.max(at - 1, 0));
      else if (event.key === 'x' && at >= 0) onSelect(at);
      else if (event.key === 'Escape') onClear();
      else if (event.key === 'e' && at >= 0) onOpen(at);
      else if (event.key === 'Enter' && at >= 0 && !isElsewhere) onOpen(at);
    }
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [count, onOpen, onSelect, onClear]);
  return Math.min(active, count - 1);
}
