import { useSyncExternalStore } from 'react';

/** More than anybody makes while a list is open. */
const OWN_ROWS_LIMIT = 200;

let ownRows: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

/**
 * Somebody has just made this with a button of the page. A list that reads it shows it at once, instead of saying that there
 * is something new. Call it with the id that the service answered, before the list is read anew.
 */
export function showOwnRow(id: string): void {
  ownRows = new Set([...ownRows, id].slice(-OWN_ROWS_LIMIT));
  for (const listener of listeners) listener();
}

export function useOwnRows(): ReadonlySet<string> {
  return useSyncExternalStore(subscribe, () => ownRows);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
