import type { ChannelContext } from '../../channel/context.ts';
import { repeat } from '../../concurrency/repeat.ts';
import { pruneErasures } from './erasure-jobs.ts';
import { runErasures } from './run-erasures.ts';

const TICK_MS = 1_000;
const PRUNE_MS = 60 * 60_000;

/** Erases persons in the background. Any number of nodes may run one. */
export function startErasureWorker(
  context: ChannelContext,
  onFault: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const repeating = { signal: stopping.signal, onFault };
  const running = Promise.all([
    repeat(repeating, () => runErasures(context, stopping.signal), TICK_MS),
    repeat(repeating, () => pruneErasures(context.db), PRUNE_MS),
  ]);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
