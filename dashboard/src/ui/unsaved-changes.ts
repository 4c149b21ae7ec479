import { useBlocker } from '@tanstack/react-router';

/** Asks before a page with unsaved changes is left, for another page or altogether. */
export function useUnsavedChanges(isDirty: boolean): void {
  useBlocker({
    shouldBlockFn: () => isDirty && !window.confirm('You have unsaved changes. Leave without saving them?'),
    enableBeforeUnload: () => isDirty,
  });
}
