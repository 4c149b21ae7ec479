import { setTimeout as sleep } from 'node:timers/promises';

/** After a fault, such as a database that is away, a quick task waits longer; a rare one waits for its next interval anyway. */
const FAULT_PAUSE_MS = 1_000;

export type Repeating = { signal: AbortSignal; onFault: (error: unknown) => void };

/** Does a piece of background work again and again, with a pause after each time, until the signal ends it. */
export async function repeat(
  { signal, onFault }: Repeating,
  work: () => Promise<unknown>,
  everyMs: number,
): Promise<void> {
  while (!signal.aborted) {
    let pauseMs = everyMs;
    try {
      await work();
    } catch (error) {
      onFault(error);
      pauseMs = Math.max(everyMs, FAULT_PAUSE_MS);
    }
    await pauseUntil(signal, pauseMs);
  }
}

export type RepeatedTask = {
  /** Ends the pause, or waits for the work that is under way. */
  stop(): Promise<void>;
};

/** Repeats a task that owns its end. The first time comes after a pause, since a start has more urgent things to do. */
export function startRepeating(
  work: (signal: AbortSignal) => Promise<unknown>,
  {
    everyMs,
    firstAfterMs = everyMs,
    onFault,
  }: { everyMs: number; firstAfterMs?: number; onFault: Repeating['onFault'] },
): RepeatedTask {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = pauseUntil(signal, firstAfterMs).then(() => repeat({ signal, onFault }, () => work(signal), everyMs));
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function pauseUntil(signal: AbortSignal, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
