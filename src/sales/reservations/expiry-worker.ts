import type { ChannelContext } from '../../channel/context.ts';
import { createWakeSignal } from '../../concurrency/wake-signal.ts';
import { RESERVATION_TTL_MIN_SECONDS } from '../../contract/limits.ts';
import { withShortLockWaits } from '../../db/short-lock-waits.ts';
import { expireDueReservations, nextExpiryMs } from './expire-reservations.ts';

/**
 * How long it sleeps at most. A new reservation, on whichever node, ends no sooner than the shortest time that one can
 * have, so a worker that looks twice within it knows of each before it ends.
 */
const SLEEP_LIMIT_MS = (RESERVATION_TTL_MIN_SECONDS * 1_000) / 2;
/** Between two looks, also while an item that is over is locked by somebody else. */
const SLEEP_MIN_MS = 250;
/** After a fault, such as a database that is away. */
const FAULT_PAUSE_MS = 1_000;

/** Ends reservations when their time is over: it sleeps until the next one is. Any number of nodes may run one. */
export function startReservationExpiry(
  context: ChannelContext,
  onFault: (error: unknown) => void,
): { stop(): Promise<void> } {
  const brief = withShortLockWaits(context);
  const stopping = new AbortController();
  const sleep = createWakeSignal();

  async function look(): Promise<number> {
    try {
      await expireDueReservations(brief, stopping.signal);
      const nextMs = await nextExpiryMs(context);
      return Math.min(SLEEP_LIMIT_MS, Math.max(SLEEP_MIN_MS, nextMs ?? SLEEP_LIMIT_MS));
    } catch (error) {
      onFault(error);
      return FAULT_PAUSE_MS;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) await sleep.wait(await look());
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      sleep.wake();
      await running;
    },
  };
}
