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

/** Repeats tasks side by side, from now on until all are stopped together. */
export function startTasks(
  tasks: readonly { work: (signal: AbortSignal) => Promise<unknown>; everyMs: number }[],
  onFault: Repeating['onFault'],
): RepeatedTask {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = Promise.all(
    tasks.map(({ work, everyMs }) => repeat({ signal, onFault }, () => work(signal), everyMs)),
  );
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Repeats one task. The first time comes after a pause, since a start has more urgent things to do. */
export function startRepeating(
  work: (signal: AbortSignal) => Promise<unknown>,
  {
    everyMs,
    firstAfterMs = everyMs,
    onFault,
  }: { everyMs: number; firstAfterMs?: number; onFault: Repeating['onFault'] },
): RepeatedTask {
  let isFirst = true;
  async function workAfterPause(signal: AbortSignal): Promise<void> {
    if (isFirst) await pauseUntil(signal, firstAfterMs);
    isFirst = false;
    if (!signal.aborted) await work(signal);
  }
  return startTasks([{ work: workAfterPause, everyMs }], onFault);
}

async function pauseUntil(signal: AbortSignal, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
