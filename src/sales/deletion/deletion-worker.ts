import type { ChannelContext } from '../../channel/context.ts';
import { repeat } from '../../concurrency/repeat.ts';
import { pruneDeletions } from '../../dealers/deletions.ts';
import { runDeletions } from './run-deletions.ts';

const TICK_MS = 1_000;
const PRUNE_MS = 60 * 60_000;

/** Removes what was deleted, in the background. Any number of nodes may run one. */
export function startDeletionWorker(
  context: ChannelContext,
  onFault: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const repeating = { signal: stopping.signal, onFault };
  const running = Promise.all([
    repeat(repeating, () => runDeletions(context, stopping.signal), TICK_MS),
    repeat(repeating, () => pruneDeletions(context.db), PRUNE_MS),
  ]);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
