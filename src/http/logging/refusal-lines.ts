import type { FastifyBaseLogger } from 'fastify';

/**
 * Bounds the log's lines about refused requests: without a key, and so without a rate limit, anybody can be refused thousands of
 * times a second. Of each minute the first ones are written, and the others are counted in one line at its end.
 */
export type RefusalLines = {
  /** Whether the line of a request that was refused with this status is written. */
  mayWrite(status: number): boolean;
  /** Writes what was counted so far. */
  stop(): void;
};

export type RefusalLineLimits = { lines: number; windowMs: number };

const LIMITS: RefusalLineLimits = { lines: 600, windowMs: 60_000 };

export function createRefusalLines(log: FastifyBaseLogger, limits: RefusalLineLimits = LIMITS): RefusalLines {
  let windowEndsAtMs = 0;
  let written = 0;
  let timer: NodeJS.Timeout | null = null;
  const counted = new Map<number, number>();

  function sumUp(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (counted.size === 0) return;
    const refused = [...counted.values()].reduce((sum, count) => sum + count, 0);
    const statuses = Object.fromEntries(counted);
    counted.clear();
    log.info({ refused, statuses }, `${refused} more refused requests have no line of their own`);
  }

  return {
    mayWrite(status) {
      const nowMs = performance.now();
      if (nowMs >= windowEndsAtMs) {
        sumUp();
        windowEndsAtMs = nowMs + limits.windowMs;
        written = 0;
      }
      written += 1;
      if (written <= limits.lines) return true;
      counted.set(status, (counted.get(status) ?? 0) + 1);
      timer ??= setTimeout(sumUp, Math.max(0, windowEndsAtMs - nowMs)).unref();
      return false;
    },
    stop: sumUp,
  };
}
