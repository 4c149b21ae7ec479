import { useSyncExternalStore } from 'react';

/** Jobs that this tab asked for: the shell says when they are done, whatever page is open then. */
let watched: readonly string[] = [];
const listeners = new Set<() => void>();

export function watchJob(id: string): void {
  if (!watched.includes(id)) change([...watched, id]);
}

export function unwatchJob(id: string): void {
  change(watched.filter((one) => one !== id));
}

export function useWatchedJobs(): readonly string[] {
  return useSyncExternalStore(subscribe, () => watched);
}

function change(next: readonly string[]): void {
  watched = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
