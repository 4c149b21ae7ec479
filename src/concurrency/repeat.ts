import { setTimeout as sleep } from 'node:timers/promises';

/** After a fault, such as a database that is away, a quick task waits longer; a rare one waits for its turn anyway. */
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
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
