import { setImmediate as nextRound } from 'node:timers/promises';
import type { Release } from './limits/keyed-semaphore.ts';

/**
 * A queue for each key: entries of one key run one batch after the other in the order of their arrival, entries of
 * different keys run side by side. What waits for the same lock in the database waits here, in the process, where it
 * costs no connection.
 *
 * A batch takes the entries that wait, as many as its limit allows. The first batch of a key begins when the event loop
 * has read all that arrived together, so requests that come in one packet share it; where every entry runs alone, the
 * first begins at once. An entry never joins a batch that has begun, so what it learns is never older than its arrival.
 *
 * With `takeTurn`, a batch waits for its turn before it takes its entries: what arrives meanwhile joins it, so few large batches
 * run instead of many small ones. A key whose last batch had one entry gains nothing by such a wait.
 *
 * Often it shows only in a batch that it has too much to do. Then it leaves entries for the next batch, which takes at most
 * twice as many as this one could do. They keep their places before all others.
 *
 * With `resultsAtOnce`, the results of a batch are handed out a few at a time, and the next batch begins after the last. What
 * is done with a result, such as sending an answer, would otherwise be done for all of them in one go, and so would be what
 * their clients ask next, since all of them ask at the same moment.
 *
 * An entry that is still waiting at its deadline leaves with the outcome 'late'.
 */
export type KeyedQueue<Entry, Result> = {
  add(key: string, entry: Entry, options?: { deadlineMs?: number }): Promise<Result | 'late'>;
  /** Keys that have entries waiting or running. */
  size(): number;
};

/** Instead of a result: the entry runs in the next batch. */
export const NEXT_BATCH = Symbol('next batch');

export type KeyedQueueOptions<Entry, Result> = {
  /**
   * Returns one result for each entry, in their order; it may leave entries for the next batch, but not all of them. If it
   * throws, all entries of the batch fail.
   */
  run: (entries: Entry[], key: string) => Promise<(Result | typeof NEXT_BATCH)[]>;
  /** How many entries may run together; it may depend on the first of them. */
  batchLimit: number | ((first: Entry) => number);
  /** Whether an entry that waits may run with the first one of a batch; without it, every one may. */
  canJoin?: (first: Entry, waiting: Entry) => boolean;
  /** What the result of an entry is for one that still waits: its result, so that it never runs, or undefined. */
  resultForWaiting?: (result: Result, entry: Entry, waiting: Entry) => Result | undefined;
  /**
   * Waits until the next batch of a key may run; what it returns is called when that batch is done. Without it, the batches of
   * all keys may run at once. `isSharing` says whether the last batch of the key had more than one entry.
   */
  takeTurn?: (first: Entry, isSharing: boolean) => Promise<Release>;
  /** How many results are handed out before the event loop serves others; without it, all of them. */
  resultsAtOnce?: number;
};

/** Keys that are remembered while nothing of theirs waits; a key that is forgotten begins its next batch at once. */
const SHARING_LIMIT = 10_000;

type Waiter<Entry, Result> = {
  entry: Entry;
  deadlineMs: number;
  timer: NodeJS.Timeout | undefined;
  resolve: (result: Result | 'late') => void;
  reject: (error: unknown) => void;
};

export function createKeyedQueue<Entry, Result>(options: KeyedQueueOptions<Entry, Result>): KeyedQueue<Entry, Result> {
  const { run, batchLimit, canJoin = () => true, resultForWaiting, takeTurn, resultsAtOnce } = options;
  const limitOf = typeof batchLimit === 'number' ? () => batchLimit : batchLimit;
  type Queue = Set<Waiter<Entry, Result>>;
  const queues = new Map<string, Queue>();
  /** Keys whose last batch had more than one entry. */
  const sharing = new Set<string>();

  async function drain(key: string, queue: Queue): Promise<void> {
    let limit = Number.POSITIVE_INFINITY;
    while (queue.size > 0) {
      const endTurn = takeTurn === undefined ? undefined : await takeTurn(firstOf(queue).entry, sharing.has(key));
      const batch = takeBatch(queue, limit);
      const settled = batch.length === 0 ? null : await settle(key, batch, queue);
      endTurn?.();
      if (settled === null) continue;
      await handOut(settled);
      const { left } = settled;
      limit = 2 * (left.length === 0 ? limit : batch.length - left.length);
      putBack(key, queue, left);
      noteSharing(key, batch.length > 1);
    }
    queues.delete(key);
  }

  function noteSharing(key: string, isShared: boolean): void {
    sharing.delete(key);
    if (!isShared || takeTurn === undefined) return;
    sharing.add(key);
    const [oldest] = sharing;
    if (sharing.size > SHARING_LIMIT && oldest !== undefined) sharing.delete(oldest);
  }

  /** Takes the next batch out of the queue. Entries past their deadline leave as 'late', even if no timer ran yet. */
  function takeBatch(queue: Queue, limit: number): Waiter<Entry, Result>[] {
    const nowMs = performance.now();
    const batch: Waiter<Entry, Result>[] = [];
    for (const waiter of queue) {
      const first = batch[0]?.entry;
      if (first !== undefined && batch.length >= Math.min(limit, limitOf(first))) break;
      if (waiter.deadlineMs <= nowMs) leave(queue, waiter, 'late');
      else if (first === undefined || canJoin(first, waiter.entry)) {
        leave(queue, waiter);
        batch.push(waiter);
      }
    }
    return batch;
  }

  type Settled = { done: { waiter: Waiter<Entry, Result>; result: Result }[]; left: Waiter<Entry, Result>[] };

  /** Runs a batch; returns its results and what it leaves for the next one. */
  async function settle(key: string, batch: Waiter<Entry, Result>[], queue: Queue): Promise<Settled> {
    const settled: Settled = { done: [], left: [] };
    try {
      const entries = batch.map((waiter) => waiter.entry);
      const results = await run(entries, key);
      if (results.length !== batch.length) {
        throw new Error(`a batch of ${batch.length} entries got ${results.length} results`);
      }
      for (const [index, waiter] of batch.entries()) {
        const result = results[index] as Result | typeof NEXT_BATCH;
        if (result === NEXT_BATCH) settled.left.push(waiter);
        else settled.done.push({ waiter, result });
      }
      if (settled.done.length === 0) throw new Error(`a batch of ${batch.length} entries did none of them`);
      // At once: what a result says holds for those who wait now, and not for those who come while results are handed out.
      for (const { waiter, result } of settled.done) settleWaiting(result, waiter.entry, queue);
      return settled;
    } catch (error) {
      for (const waiter of batch) waiter.reject(error);
      return { done: [], left: [] };
    }
  }

  async function handOut({ done }: Settled): Promise<void> {
    for (const [index, { waiter, result }] of done.entries()) {
      if (resultsAtOnce !== undefined && index > 0 && index % resultsAtOnce === 0) await nextRound();
      waiter.resolve(result);
    }
  }

  function putBack(key: string, queue: Queue, left: Waiter<Entry, Result>[]): void {
    if (left.length === 0) return;
    const waiting = [...queue];
    queue.clear();
    for (const waiter of left) startTimer(key, waiter);
    for (const waiter of [...left, ...waiting]) queue.add(waiter);
  }

  function settleWaiting(result: Result, entry: Entry, queue: Queue): void {
    if (resultForWaiting === undefined) return;
    for (const waiter of queue) {
      const settled = resultForWaiting(result, entry, waiter.entry);
      if (settled !== undefined) leave(queue, waiter, settled);
    }
  }

  function startTimer(key: string, waiter: Waiter<Entry, Result>): void {
    if (waiter.deadlineMs === Number.POSITIVE_INFINITY) return;
    const giveUp = () => {
      queues.get(key)?.delete(waiter);
      waiter.resolve('late');
    };
    waiter.timer = setTimeout(giveUp, Math.max(0, waiter.deadlineMs - performance.now()));
  }

  function enqueue(key: string, waiter: Waiter<Entry, Result>): void {
    const queue = queues.get(key);
    if (queue !== undefined) {
      queue.add(waiter);
      return;
    }
    const started = new Set([waiter]);
    queues.set(key, started);
    if (batchLimit === 1) void drain(key, started);
    else setImmediate(() => void drain(key, started));
  }

  return {
    add: (key, entry, { deadlineMs = Number.POSITIVE_INFINITY } = {}) =>
      new Promise((resolve, reject) => {
        const waiter: Waiter<Entry, Result> = { entry, deadlineMs, timer: undefined, resolve, reject };
        startTimer(key, waiter);
        enqueue(key, waiter);
      }),
    size: () => queues.size,
  };
}

function firstOf<Entry, Result>(queue: Set<Waiter<Entry, Result>>): Waiter<Entry, Result> {
  const [first] = queue;
  if (first === undefined) throw new Error('nobody waits in this queue');
  return first;
}

/** The wait of an entry is over: it runs, or it leaves with a result. */
function leave<Entry, Result>(
  queue: Set<Waiter<Entry, Result>>,
  waiter: Waiter<Entry, Result>,
  result?: Result | 'late',
): void {
  queue.delete(waiter);
  clearTimeout(waiter.timer);
  if (result !== undefined) waiter.resolve(result);
}
