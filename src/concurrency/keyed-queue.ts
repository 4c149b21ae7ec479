/**
 * A queue for each key: entries of one key run one batch after the other in the order of their arrival, entries of
 * different keys run side by side. What waits for the same lock in the database waits here, in the process, where it
 * costs no connection.
 *
 * A batch takes the entries that wait, as many as its limit allows. The first batch of a key begins when the event loop
 * has read all that arrived together, so requests that come in one packet share it. An entry never joins a batch that has
 * begun, so what it learns is never older than its arrival.
 *
 * An entry that is still waiting at its deadline leaves with the outcome 'late'.
 */
export type KeyedQueue<Entry, Result> = {
  add(key: string, entry: Entry, options?: { deadlineMs?: number }): Promise<Result | 'late'>;
  /** Keys that have entries waiting or running. */
  size(): number;
};

export type KeyedQueueOptions<Entry, Result> = {
  /** Answers one result for each entry, in their order. If it throws, all entries of the batch fail. */
  run: (entries: Entry[], key: string) => Promise<Result[]>;
  batchLimit: number;
  /** True for a result that all who wait for this key would get as well, one after the other: they get it at once. */
  isForAll?: (result: Result) => boolean;
};

type Waiter<Entry, Result> = {
  entry: Entry;
  deadlineMs: number;
  timer: NodeJS.Timeout | undefined;
  resolve: (result: Result | 'late') => void;
  reject: (error: unknown) => void;
};

export function createKeyedQueue<Entry, Result>(options: KeyedQueueOptions<Entry, Result>): KeyedQueue<Entry, Result> {
  const { run, batchLimit, isForAll = () => false } = options;
  const queues = new Map<string, Set<Waiter<Entry, Result>>>();

  async function drain(key: string, queue: Set<Waiter<Entry, Result>>): Promise<void> {
    while (queue.size > 0) {
      const batch = dequeue(queue, batchLimit);
      const shared = batch.length === 0 ? undefined : await settle(key, batch);
      if (shared !== undefined) for (const waiter of dequeue(queue, queue.size)) waiter.resolve(shared);
    }
    queues.delete(key);
  }

  /** Answers the result that is for all who wait, if there is one. */
  async function settle(key: string, batch: Waiter<Entry, Result>[]): Promise<Result | undefined> {
    try {
      const entries = batch.map((waiter) => waiter.entry);
      const results = await run(entries, key);
      if (results.length !== batch.length) {
        throw new Error(`a batch of ${batch.length} entries got ${results.length} results`);
      }
      for (const [index, waiter] of batch.entries()) waiter.resolve(results[index] as Result);
      return results.find(isForAll);
    } catch (error) {
      for (const waiter of batch) waiter.reject(error);
      return undefined;
    }
  }

  function enqueue(key: string, waiter: Waiter<Entry, Result>): void {
    const queue = queues.get(key);
    if (queue !== undefined) {
      queue.add(waiter);
      return;
    }
    const started = new Set([waiter]);
    queues.set(key, started);
    setImmediate(() => void drain(key, started));
  }

  return {
    add: (key, entry, { deadlineMs = Number.POSITIVE_INFINITY } = {}) =>
      new Promise((resolve, reject) => {
        const waiter: Waiter<Entry, Result> = { entry, deadlineMs, timer: undefined, resolve, reject };
        if (deadlineMs !== Number.POSITIVE_INFINITY) {
          const giveUp = () => {
            queues.get(key)?.delete(waiter);
            resolve('late');
          };
          waiter.timer = setTimeout(giveUp, Math.max(0, deadlineMs - performance.now()));
        }
        enqueue(key, waiter);
      }),
    size: () => queues.size,
  };
}

/** Takes up to `count` entries out of the queue. Those past their deadline leave as 'late', even if no timer ran yet. */
function dequeue<Entry, Result>(queue: Set<Waiter<Entry, Result>>, count: number): Waiter<Entry, Result>[] {
  const nowMs = performance.now();
  const taken: Waiter<Entry, Result>[] = [];
  for (const waiter of queue) {
    if (taken.length >= count) break;
    queue.delete(waiter);
    clearTimeout(waiter.timer);
    if (waiter.deadlineMs > nowMs) taken.push(waiter);
    else waiter.resolve('late');
  }
  return taken;
}
