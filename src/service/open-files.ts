import { readFileSync } from 'node:fs';
import { CONNECTIONS_LIMIT } from '../contract/limits.ts';

/** The database, files, webhooks and mail need descriptors, too; without one they fail in ways that nobody has foreseen. */
const CONNECTIONS_SHARE = 0.75;

/** How many files and connections the system lets this process have open; null if it does not say. */
export function openFilesLimit(): number | null {
  try {
    return openFilesIn(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    // Only Linux has the file, and not in every sandbox.
    return null;
  }
}

export function openFilesIn(limits: string): number | null {
  const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? null : Number(soft);
}

/** How many connections of clients may be open at once. */
export function connectionLimitOf(openFiles: number | null): number {
  return Math.min(CONNECTIONS_LIMIT, Math.floor((openFiles ?? Number.POSITIVE_INFINITY) * CONNECTIONS_SHARE));
}
