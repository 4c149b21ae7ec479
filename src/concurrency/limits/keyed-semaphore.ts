/**
 * A semaphore with a limit for each key and one for all keys together, so that one integration can hold only its share.
 * Tasks of one key start in the order of their arrival; keys are served round-robin. A task may weigh more than one unit, for
 * instance its bytes; one that is heavier than a limit counts as that limit, so it runs alone instead of never.
 *
 * A task that has to wait for units of the total keeps the keys behind it waiting too. Small tasks can't overtake a
 * large one for ever.
 */
export type KeyedSemaphore = {
  /** Waits for its units. Throws a SemaphoreError if they don't come. */
  acquire(key: string, options?: AcquireOptions): Promise<Release>;
  /** Takes its units if they are free and nobody waits for them, else null. */
  tryAcquire(key: string, weight?: number): Release | null;
  /** Runs the task while it holds its units, and gives them back whatever happens. */
  run<Result>(key: string, task: () => Promise<Result>, options?: AcquireOptions): Promise<Result>;
  /** Units in use. */
  held(): number;
  waiting(): number;
};

export type KeyedSemaphoreLimits = {
  total: number;
  perKey: number;
  /** Tasks that may wait; one more is refused at once. */
  waitingTotal: number;
  waitingPerKey?: number;
};

export type AcquireOptions = {
  /** Units that the task needs; 1 by default. */
  weight?: number;
  /** A moment of performance.now() after which the task no longer wants to start. */
  deadlineMs?: number;
  /** Ends the wait, for instance when the client has gone. */
  signal?: AbortSignal | undefined;
};

/** Gives the units back. Calling it again does nothing. */
export type Release = () => void;

/** Why a task did not start: too many were waiting, its deadline passed, or its signal was aborted. */
export class SemaphoreError extends Error {
  override readonly name = 'SemaphoreError';
  readonly reason: 'full' | 'late' | 'aborted';

  constructor(reason: SemaphoreError['reason'], options?: ErrorOptions) {
    super(MESSAGES[reason], options);
    this.reason = reason;
  }
}

const MESSAGES = {
  full: 'too many tasks are waiting',
  late: 'the deadline passed before the task could start',
  aborted: 'the task was aborted before it could start',
};

type Waiter = { weight: number; start(): void };
type KeyState = { held: number; waiters: Set<Waiter> };

export function createKeyedSemaphore(limits: KeyedSemaphoreLimits): KeyedSemaphore {
  const { total, perKey, waitingTotal, waitingPerKey = waitingTotal } = limits;
  const keys = new Map<string, KeyState>();
  /** Keys whose first waiter is within its key's limit, in the order in which they are served. */
  const ready = new Set<string>();
  let held = 0;
  let waiting = 0;

  function take(key: string, state: KeyState, weight: number): Release {
    held += weight;
    state.held += weight;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      held -= weight;
      state.held -= weight;
      refresh(key, state);
      startReady();
    };
  }

  /** Puts a key where it belongs after its waiters or its units have changed. */
  function refresh(key: string, state: KeyState): void {
    const [first] = state.waiters;
    if (first !== undefined && state.held + first.weight <= perKey) ready.add(key);
    else ready.delete(key);
    if (first === undefined && state.held === 0) keys.delete(key);
  }

  function startReady(): void {
    for (const key of ready) {
      const state = keys.get(key);
      const [first] = state?.waiters ?? [];
      if (state === undefined || first === undefined || held + first.weight > total) return;
      first.start();
      // Its next task is behind those of the other keys.
      ready.delete(key);
      refresh(key, state);
    }
  }

  function wait(key: string, state: KeyState, weight: number, options: AcquireOptions): Promise<Release> {
    return new Promise<Release>((resolve, reject) => {
      const { deadlineMs, signal } = options;
      const timer =
        deadlineMs === undefined
          ? undefined
          : setTimeout(() => giveUp(new SemaphoreError('late')), Math.max(0, deadlineMs - performance.now()));
      const onAbort = () => giveUp(new SemaphoreError('aborted', { cause: signal?.reason }));
      const waiter: Waiter = {
        weight,
        start() {
          leave();
          resolve(take(key, state, weight));
        },
      };
      function leave(): void {
        state.waiters.delete(waiter);
        waiting -= 1;
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
      function giveUp(error: SemaphoreError): void {
        leave();
        refresh(key, state);
        // A lighter one may have stood behind it.
        startReady();
        reject(error);
      }
      signal?.addEventListener('abort', onAbort);
      state.waiters.add(waiter);
      waiting += 1;
      refresh(key, state);
    });
  }

  function tryAcquire(key: string, wanted = 1): Release | null {
    const weight = Math.min(wanted, perKey, total);
    const state = keys.get(key) ?? { held: 0, waiters: new Set() };
    const isFree = state.waiters.size === 0 && state.held + weight <= perKey;
    if (!isFree || ready.size > 0 || held + weight > total) return null;
    keys.set(key, state);
    return take(key, state, weight);
  }

  async function acquire(key: string, options: AcquireOptions = {}): Promise<Release> {
    const { signal, deadlineMs } = options;
    if (signal?.aborted) throw new SemaphoreError('aborted', { cause: signal.reason });
    if (deadlineMs !== undefined && deadlineMs <= performance.now()) throw new SemaphoreError('late');
    const release = tryAcquire(key, options.weight);
    if (release !== null) return release;
    const state = keys.get(key) ?? { held: 0, waiters: new Set() };
    if (waiting >= waitingTotal || state.waiters.size >= waitingPerKey) throw new SemaphoreError('full');
    keys.set(key, state);
    return await wait(key, state, Math.min(options.weight ?? 1, perKey, total), options);
  }

  return {
    acquire,
    tryAcquire,
    async run(key, task, options) {
      const release = await acquire(key, options);
      try {
        return await task();
      } finally {
        release();
      }
    },
    held: () => held,
    waiting: () => waiting,
  };
}
