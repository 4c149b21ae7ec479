import { ApiError } from '../../../contract/errors.ts';
import type { Outcome } from './idempotency-records.ts';

/**
 * One turn at a time for each name, in the order of coming. Writes that need the same lock in the database queue here,
 * in the process, where waiting costs no connection: forty bulks of one dealer at once kept the requests of all others
 * waiting for 2.7 s. Those who wait may take a turn together, as many as the limit allows.
 *
 * Nobody waits past its deadline. And when a turn ends without the connection or the lock that it needed, those behind
 * it end so too: they would wait for the same in vain, one after the other.
 */
export type Turns<Entry extends { deadlineMs: number }> = (name: string, entry: Entry) => Promise<Outcome>;

/** A write that takes its turn alone. */
export type WriteTurn = { deadlineMs: number; attempt: () => Promise<Outcome> };

type Waiting<Entry> = {
  entry: Entry;
  timer: NodeJS.Timeout;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
};

export function createTurns<Entry extends { deadlineMs: number }>(
  take: (entries: Entry[]) => Promise<Outcome[]>,
  batchLimit: number,
): Turns<Entry> {
  const queues = new Map<string, Set<Waiting<Entry>>>();

  async function drain(name: string, queue: Set<Waiting<Entry>>): Promise<void> {
    // The callers of this very turn of the event loop join the first batch.
    await Promise.resolve();
    while (queue.size > 0) {
      const fault = await settle(leave(queue, batchLimit));
      if (fault !== null) for (const one of leave(queue, queue.size)) one.resolve(fault);
    }
    queues.delete(name);
  }

  /** Answers the fault that those who wait would meet as well, or null. */
  async function settle(batch: Waiting<Entry>[]): Promise<ApiError | null> {
    try {
      const outcomes = await take(batch.map((one) => one.entry));
      for (const [index, one] of batch.entries()) one.resolve(outcomes[index] as Outcome);
      return outcomes.find(isHopeless) ?? null;
    } catch (error) {
      for (const one of batch) one.reject(error);
      return null;
    }
  }

  return (name, entry) =>
    new Promise<Outcome>((resolve, reject) => {
      const timer = setTimeout(() => {
        queues.get(name)?.delete(waiting);
        resolve(tooLate());
      }, entry.deadlineMs - performance.now());
      const waiting = { entry, timer, resolve, reject };
      const queue = queues.get(name);
      if (queue !== undefined) {
        queue.add(waiting);
        return;
      }
      const started = new Set([waiting]);
      queues.set(name, started);
      void drain(name, started);
    });
}

/** True for a fault that others would meet as well: there was no connection, or a lock that stayed taken. */
export function isHopeless(outcome: Outcome): outcome is ApiError {
  return outcome instanceof ApiError && outcome.code === 'lookup_failed' && outcome.cause !== LATE;
}

export function tooLate(): ApiError {
  return new ApiError('lookup_failed', { cause: LATE });
}

const LATE = new Error('the turn of this write did not come before its deadline');

/** Takes the first ones out of the queue; their wait is over. */
function leave<Entry>(queue: Set<Waiting<Entry>>, count: number): Waiting<Entry>[] {
  const first = [...queue.values().take(count)];
  for (const one of first) {
    queue.delete(one);
    clearTimeout(one.timer);
  }
  return first;
}

/** The writes that share no transaction take their turns one by one. */
export function createWriteTurns(): Turns<WriteTurn> {
  return createTurns((writes) => Promise.all(writes.map((write) => write.attempt())), 1);
}
