import { useEffect } from 'react';

/** Ctrl-S or Cmd-S saves instead of asking where to store the page. */
export function useSaveKey(save: () => Promise<void>): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void save();
    }
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [save]);
}
