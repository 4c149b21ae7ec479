import type { Served } from './neighbour.ts';
import type { AttackResult } from './run.ts';

/** What the full run wants on a quiet machine. */
export const PAUSE_LIMIT_MS = 100;
const P99_FACTOR_LIMIT = 2;
/** Below this a p99 is served well, whatever it was in peace. */
const P99_FINE_MS = 25;
/** README names this figure for sizing: a node needs it beside what it takes in peace. */
export const GROWTH_LIMIT_BYTES = 768 * 1024 * 1024;

export const SLOW = 'p99';
export const BY_LOAD = 'p99 by load';
const PAUSED = 'pause';
/** Above this part of the processors' time, what the host takes shows in the times of the neighbour. */
const STOLEN_LIMIT = 0.05;
const TIMES = new Set([SLOW, BY_LOAD, PAUSED]);

/** Whether a neighbour is slower than it may be beside another measurement of the same neighbour. */
export function isSlow(attacked: Served, other: Served): boolean {
  return attacked.p99Ms > Math.max(P99_FINE_MS, P99_FACTOR_LIMIT * other.p99Ms);
}

/**
 * What an attack did to the neighbour and to the service. A p99 that the same requests to a bare server explain, because
 * the attacker's own process takes the CPU, is named as such.
 */
export function harmOf({ quiet, attacked, bare, pauseMs, grownBytes }: AttackResult): string[] {
  const harm: string[] = [];
  if (attacked.failures > 0) harm.push('failures');
  if (isSlow(attacked, quiet)) harm.push(bare !== null && !isSlow(attacked, bare) ? BY_LOAD : SLOW);
  if (pauseMs !== null && pauseMs > PAUSE_LIMIT_MS) harm.push(PAUSED);
  if (grownBytes !== null && grownBytes > GROWTH_LIMIT_BYTES) harm.push('memory');
  return harm;
}

/**
 * Whether the host took so much time that neither a harm nor its absence says anything: it may have slowed the neighbour
 * down in peace as well. Failures and memory are harm at any time.
 */
export function isDisturbed(result: AttackResult): boolean {
  return result.stolen > STOLEN_LIMIT && harmOf(result).every((harm) => TIMES.has(harm));
}
