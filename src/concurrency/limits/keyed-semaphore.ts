/**
 * A semaphore with a limit for each key and one for all keys together, so that one integration can hold only its share.
 * Tasks of one key start in the order of their arrival; keys are served round-robin. A task may weigh more than one unit, for
 * instance its bytes; one that is heavier than a limit counts as that limit, so it runs alone instead of never.
 *
 * Keys may belong to a group, as integrations belong to a dealer. A group has a limit of its own. Groups are served
 * round-robin, and so are the keys of each: a dealer with a hundred integrations has the share of one dealer.
 *
 * A task that has to wait for units of the total keeps the groups behind it waiting too, and one that waits for units of its
 * group the keys behind it. Small tasks can't overtake a large one for ever.
 */
export type KeyedSemaphore = {
  /** Waits for its units. Throws a SemaphoreError if they don't come. */
  acquire(key: SemaphoreKey, options?: AcquireOptions): Promise<Release>;
  /** Takes its units if they are free and nobody waits for them, else null. */
  tryAcquire(key: SemaphoreKey, weight?: number): Release | null;
  /** Runs the task while it holds its units, and gives them back whatever happens. */
  run<Result>(key: SemaphoreKey, task: () => Promise<Result>, options?: AcquireOptions): Promise<Result>;
  /** Units in use. */
  held(): number;
  waiting(): number;
};

/** A key of a group, or one that is alone in its group. */
export type SemaphoreKey = string | GroupedKey;
export type GroupedKey = { readonly group: string; readonly key: string };

export type KeyedSemaphoreLimits = {
  total: number;
  perKey: number;
  /** As much as one key may have if it is not given: then a group has the share of one key. */
  perGroup?: number;
  /** Tasks that may wait; one more is refused at once. */
  waitingTotal: number;
  waitingPerKey?: number;
  waitingPerGroup?: number;
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
type KeyState = { name: string; group: GroupState; held: number; waiters: Set<Waiter> };
type GroupState = {
  name: string;
  held: number;
  waiting: number;
  keys: Map<string, KeyState>;
  /** Keys whose first waiter is within its key's limit, in the order in which they are served. */
  ready: Set<KeyState>;
};

export function createKeyedSemaphore(limits: KeyedSemaphoreLimits): KeyedSemaphore {
  const { total, perKey, perGroup = perKey, waitingTotal } = limits;
  const { waitingPerGroup = waitingTotal, waitingPerKey = waitingPerGroup } = limits;
  const weightLimit = Math.min(perKey, perGroup, total);
  const groups = new Map<string, GroupState>();
  /** Groups whose first ready key is within the group's limit, in the order in which they are served. */
  const ready = new Set<GroupState>();
  let held = 0;
  let waiting = 0;

  /** The state of a key; one that is new is kept only after `keep`. */
  function find(key: SemaphoreKey): KeyState {
    const isGrouped = typeof key !== 'string';
    const groupName = isGrouped ? key.group : key;
    const name = isGrouped ? key.key : key;
    const known = groups.get(groupName);
    const group = known ?? { name: groupName, held: 0, waiting: 0, keys: new Map(), ready: new Set() };
    return group.keys.get(name) ?? { name, group, held: 0, waiters: new Set() };
  }

  function keep(state: KeyState): void {
    groups.set(state.group.name, state.group);
    state.group.keys.set(state.name, state);
  }

  function take(state: KeyState, weight: number): Release {
    count(state, weight);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      count(state, -weight);
      refresh(state);
      startReady();
    };
  }

  function count(state: KeyState, weight: number): void {
    held += weight;
    state.group.held += weight;
    state.held += weight;
  }

  /** Puts a key and its group where they belong after their waiters or their units have changed. */
  function refresh(state: KeyState): void {
    const { group } = state;
    const [first] = state.waiters;
    if (first !== undefined && state.held + first.weight <= perKey) group.ready.add(state);
    else group.ready.delete(state);
    if (first === undefined && state.held === 0) group.keys.delete(state.name);
    const next = firstOf(group);
    if (next !== undefined && group.held + next.weight <= perGroup) ready.add(group);
    else ready.delete(group);
    if (group.keys.size === 0) groups.delete(group.name);
  }

  function startReady(): void {
    for (const group of ready) {
      const [state] = group.ready;
      const first = firstOf(group);
      if (state === undefined || first === undefined || held + first.weight > total) return;
      first.start();
      // Its next task is behind those of the other keys, and the next one of its group behind those of the other groups.
      group.ready.delete(state);
      ready.delete(group);
      refresh(state);
    }
  }

  function wait(state: KeyState, weight: number, options: AcquireOptions): Promise<Release> {
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
          resolve(take(state, weight));
        },
      };
      function leave(): void {
        state.waiters.delete(waiter);
        state.group.waiting -= 1;
        waiting -= 1;
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
      function giveUp(error: SemaphoreError): void {
        leave();
        refresh(state);
        // A lighter one may have stood behind it.
        startReady();
        reject(error);
      }
      signal?.addEventListener('abort', onAbort);
      state.waiters.add(waiter);
      state.group.waiting += 1;
      waiting += 1;
      refresh(state);
    });
  }

  function tryAcquire(key: SemaphoreKey, wanted = 1): Release | null {
    const weight = Math.min(wanted, weightLimit);
    const state = find(key);
    const { group } = state;
    const isNobodyBefore = state.waiters.size === 0 && group.ready.size === 0 && ready.size === 0;
    const isFree = state.held + weight <= perKey && group.held + weight <= perGroup && held + weight <= total;
    if (!isNobodyBefore || !isFree) return null;
    keep(state);
    return take(state, weight);
  }

  async function acquire(key: SemaphoreKey, options: AcquireOptions = {}): Promise<Release> {
    const { signal, deadlineMs } = options;
    if (signal?.aborted) throw new SemaphoreError('aborted', { cause: signal.reason });
    if (deadlineMs !== undefined && deadlineMs <= performance.now()) throw new SemaphoreError('late');
    const release = tryAcquire(key, options.weight);
    if (release !== null) return release;
    const state = find(key);
    const isFull =
      waiting >= waitingTotal || state.group.waiting >= waitingPerGroup || state.waiters.size >= waitingPerKey;
    if (isFull) throw new SemaphoreError('full');
    keep(state);
    return await wait(state, Math.min(options.weight ?? 1, weightLimit), options);
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

/** The task of a group that starts next. */
function firstOf({ ready }: GroupState): Waiter | undefined {
  const [state] = ready;
  const [first] = state?.waiters ?? [];
  return first;
}
