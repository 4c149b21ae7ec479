import type { FastifyBaseLogger } from 'fastify';

/**
 * Bounds the log's lines about requests that no rate limit of a key bounds: those that are refused, and those that need no key.
 * Anybody can send thousands of them a second, of 220 bytes of log each. Of each minute the first ones are written, and the others
 * are counted in one line at its end.
 */
export type LineLimit = {
  /** Whether the line of a request with this end is written. */
  mayWrite(end: number | 'aborted'): boolean;
  /** Writes what was counted so far. */
  stop(): void;
};

export type LineLimits = { lines: number; windowMs: number };
export type LimitedLines = keyof typeof NAMES;

const NAMES = { refused: 'refused requests', keyless: 'requests without an API key' };
const MINUTE_MS = 60_000;
const LIMITS: Record<LimitedLines, LineLimits> = {
  refused: { lines: 600, windowMs: MINUTE_MS },
  keyless: { lines: 6_000, windowMs: MINUTE_MS },
};

export function createLineLimit(
  log: FastifyBaseLogger,
  what: LimitedLines,
  { lines, windowMs }: LineLimits = LIMITS[what],
): LineLimit {
  let windowEndsAtMs = 0;
  let written = 0;
  let timer: NodeJS.Timeout | null = null;
  const counted = new Map<number | 'aborted', number>();

  function sumUp(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (counted.size === 0) return;
    const count = [...counted.values()].reduce((sum, one) => sum + one, 0);
    const statuses = Object.fromEntries(counted);
    counted.clear();
    log.info({ [what]: count, statuses }, `${count} more ${NAMES[what]} have no line of their own`);
  }

  return {
    mayWrite(end) {
      const nowMs = performance.now();
      if (nowMs >= windowEndsAtMs) {
        sumUp();
        windowEndsAtMs = nowMs + windowMs;
        written = 0;
      }
      written += 1;
      if (written <= lines) return true;
      counted.set(end, (counted.get(end) ?? 0) + 1);
      timer ??= setTimeout(sumUp, Math.max(0, windowEndsAtMs - nowMs)).unref();
      return false;
    },
    stop: sumUp,
  };
}
