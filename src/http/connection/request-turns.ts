/**
 * Spreads the requests of one client over turns of the event loop. A client with fifty connections sends fifty requests at the
 * same moment. What is done for them would be done in one go, and each step of another client's request would wait for it. So
 * while several clients are served, a few requests of each begin in a turn. The requests of a client that is alone begin at
 * once.
 */
export type RequestTurns = {
  /**
   * Begins a request now, or in one of the next turns. The requests of one client begin in the order of their arrival. One that
   * has no need to begin any more says so by false, and the next one takes its place.
   */
  take(client: string, begin: Begin): void;
};

type Begin = () => boolean;

export const REQUESTS_PER_TURN = 4;
/** So long after the last request of another client, a client counts as alone. */
export const ALONE_AFTER_MS = 50;

export function createRequestTurns(now: () => number = () => performance.now()): RequestTurns {
  const waiting = new Map<string, Begin[]>();
  /** How many requests of each client have begun in this turn. A new map each time: a map that is cleared keeps what it had. */
  let begun = new Map<string, number>();
  let isTurnOpen = false;
  let lastClient: string | null = null;
  let changedAtMs = Number.NEGATIVE_INFINITY;

  function isAlone(client: string): boolean {
    const nowMs = now();
    if (client !== lastClient) {
      if (lastClient !== null) changedAtMs = nowMs;
      lastClient = client;
    }
    return nowMs - changedAtMs >= ALONE_AFTER_MS;
  }

  function start(client: string, begin: Begin): void {
    if (!isTurnOpen) setImmediate(nextTurn);
    isTurnOpen = true;
    if (begin()) begun.set(client, (begun.get(client) ?? 0) + 1);
  }

  function nextTurn(): void {
    isTurnOpen = false;
    begun = new Map();
    for (const [client, queue] of [...waiting]) {
      let next = 0;
      while (next < queue.length && (begun.get(client) ?? 0) < REQUESTS_PER_TURN) start(client, queue[next++] as Begin);
      if (next === queue.length) waiting.delete(client);
      else queue.splice(0, next);
    }
  }

  return {
    take(client, begin) {
      const mayBegin = isAlone(client) || (begun.get(client) ?? 0) < REQUESTS_PER_TURN;
      const queue = waiting.get(client);
      if (queue !== undefined) queue.push(begin);
      else if (mayBegin) start(client, begin);
      // A turn is open: requests of this client have begun in it.
      else waiting.set(client, [begin]);
    },
  };
}
