/** The backoff of a failed delivery: the wait before each attempt, counted from the end of the one before. */
export const ATTEMPT_WAITS_MS: readonly number[] = [
  0,
  5_000,
  5 * 60_000,
  30 * 60_000,
  2 * 3_600_000,
  5 * 3_600_000,
  10 * 3_600_000,
  10 * 3_600_000,
];

export const ATTEMPT_LIMIT = ATTEMPT_WAITS_MS.length;
/** How long an attempt may take: connecting, the headers and the body together. */
export const ATTEMPT_TIMEOUT_MS = 10_000;

/** The wait after `failedAttempts` attempts have failed, or null when there is no further one. */
export function waitMsAfter(failedAttempts: number): number | null {
  return ATTEMPT_WAITS_MS[failedAttempts] ?? null;
}
