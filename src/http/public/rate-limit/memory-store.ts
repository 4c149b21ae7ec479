import { RATE_WINDOW_MS } from '../../../contract/limits.ts';
import type { RateLimitStore, Spending } from './rate-limit-store.ts';

/** The store for a single node: an exact log in memory, which begins with the process. */
export function memoryStore(now: () => number = monotonicNow): RateLimitStore {
  const windows = new Map<string, RollingWindow>();
  let sweepAtMs = 0;

  /** Integrations without recent requests are dropped, so memory follows the traffic of the last minute or two. */
  function sweep(nowMs: number): void {
    if (nowMs < sweepAtMs) return;
    sweepAtMs = nowMs + RATE_WINDOW_MS;
    for (const [id, window] of windows) if (window.isEmptyAt(nowMs)) windows.delete(id);
  }

  return {
    async spend(integrationId, cap, cost) {
      const nowMs = now();
      sweep(nowMs);
      let window = windows.get(integrationId);
      if (window === undefined) {
        window = new RollingWindow();
        windows.set(integrationId, window);
      }
      return window.spend(nowMs, cap, cost);
    },
    async used(integrationId) {
      return windows.get(integrationId)?.usedAt(now()) ?? 0;
    },
  };
}

/** The wall clock is not used, because it may be set back or forth. */
function monotonicNow(): number {
  return Math.floor(performance.now());
}

/** A log of (time, tokens), oldest first; spends of the same millisecond share an entry, which bounds its length. */
class RollingWindow {
  #times: number[] = [];
  #tokens: number[] = [];
  /** Entries before this index have left the window; the arrays are cut when half of them have. */
  #first = 0;
  #used = 0;

  spend(nowMs: number, cap: number, cost: number): Spending {
    this.#expire(nowMs);
    const isAllowed = this.#used + cost <= cap;
    const waitMs = isAllowed ? 0 : this.#waitFor(this.#used + cost - cap, nowMs);
    if (isAllowed) this.#record(nowMs, cost);
    return {
      isAllowed,
      remaining: Math.max(0, cap - this.#used),
      resetInMs: (this.#times.at(-1) ?? nowMs - RATE_WINDOW_MS) + RATE_WINDOW_MS - nowMs,
      waitMs,
    };
  }

  isEmptyAt(nowMs: number): boolean {
    return this.usedAt(nowMs) === 0;
  }

  usedAt(nowMs: number): number {
    this.#expire(nowMs);
    return this.#used;
  }

  #record(nowMs: number, cost: number): void {
    const last = this.#times.length - 1;
    this.#used += cost;
    if (this.#times[last] === nowMs) {
      this.#tokens[last] = (this.#tokens[last] ?? 0) + cost;
      return;
    }
    this.#times.push(nowMs);
    this.#tokens.push(cost);
  }

  #expire(nowMs: number): void {
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? 0) + RATE_WINDOW_MS <= nowMs) {
      this.#used -= this.#tokens[this.#first] ?? 0;
      this.#first += 1;
    }
    if (this.#first > this.#times.length / 2) {
      this.#times.splice(0, this.#first);
      this.#tokens.splice(0, this.#first);
      this.#first = 0;
    }
  }

  #waitFor(excess: number, nowMs: number): number {
    let missing = excess;
    for (let index = this.#first; index < this.#times.length; index++) {
      missing -= this.#tokens[index] ?? 0;
      if (missing <= 0) return (this.#times[index] ?? nowMs) + RATE_WINDOW_MS - nowMs;
    }
    return RATE_WINDOW_MS;
  }
}
