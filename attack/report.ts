import { printTable } from '../bench/table.ts';
import type { AttackResult } from './run.ts';

/** What the full run wants on a quiet machine. */
export const PAUSE_LIMIT_MS = 100;
export const P99_FACTOR_LIMIT = 2;
/** Below this a p99 is served well, whatever it was in peace. */
const P99_FINE_MS = 25;
/** README names this figure for sizing: a node needs it beside what it takes in peace. */
export const GROWTH_LIMIT_BYTES = 512 * 1024 * 1024;

const MIB = 1024 * 1024;

/** Prints the table and answers how many attacks did harm. */
export function report(results: AttackResult[]): number {
  const head = [
    'attack',
    'answers',
    'p50 ms',
    'p99 ms',
    'failed',
    'pause ms',
    'busy ms',
    'memory MiB',
    'CPU s',
    'harm',
  ];
  const rows = results.map(rowOf);
  printTable('What a neighbour met in peace → under attack', head, rows);
  return results.filter((result) => harmOf(result).length > 0).length;
}

/** One line of the table. */
export function rowOf(result: AttackResult): string[] {
  return [
    result.name,
    [...result.statuses].map(([status, count]) => `${count}×${status === 0 ? 'none' : status}`).join(' '),
    `${round(result.quiet.p50Ms)} → ${round(result.attacked.p50Ms)}`,
    `${round(result.quiet.p99Ms)} → ${round(result.attacked.p99Ms)}`,
    `${result.attacked.failures} of ${result.attacked.requests}`,
    result.pauseMs === null ? '–' : String(Math.round(result.pauseMs)),
    result.busyMs === null ? '–' : String(Math.round(result.busyMs)),
    result.grownBytes === null ? '–' : `+${Math.round(result.grownBytes / MIB)}`,
    result.cpuMs === null ? '–' : round(result.cpuMs / 1_000),
    harmOf(result).join(', ') || 'none',
  ];
}

export function harmOf({ quiet, attacked, pauseMs, grownBytes }: AttackResult): string[] {
  const harm: string[] = [];
  if (attacked.failures > 0) harm.push('failures');
  if (attacked.p99Ms > Math.max(P99_FINE_MS, P99_FACTOR_LIMIT * quiet.p99Ms)) harm.push('p99');
  if (pauseMs !== null && pauseMs > PAUSE_LIMIT_MS) harm.push('pause');
  if (grownBytes !== null && grownBytes > GROWTH_LIMIT_BYTES) harm.push('memory');
  return harm;
}

function round(value: number): string {
  return value.toFixed(1);
}
