import type { GroupedKey } from '../../concurrency/limits/keyed-semaphore.ts';

/**
 * Spreads the requests of one dealer over turns of the event loop. A client with fifty connections sends fifty requests at the
 * same moment. What is done for them would be done in one go, and each step of another dealer's request would wait for it. So
 * while several dealers are served, a few requests of each begin in a turn; the integrations and people of one dealer take
 * their places in it round-robin. The requests of a dealer who is alone begin at once.
 */
export type RequestTurns = {
  /**
   * Begins a request now, or in one of the next turns. The requests of one sender begin in the order of their arrival. One that
   * has no need to begin any more says so by false, and the next one takes its place. One that takes long to read counts as several.
   */
  take(sender: GroupedKey, begin: Begin, places?: number): void;
};

type Begin = () => boolean;
type Waiting = { begin: Begin; places: number };

export const REQUESTS_PER_TURN = 4;
/** So long after the last request of another dealer, a dealer counts as alone. */
export const ALONE_AFTER_MS = 50;

export function createRequestTurns(now: () => number = () => performance.now()): RequestTurns {
  /** The requests that wait, by dealer and sender. */
  const waiting = new Map<string, Map<string, Waiting[]>>();
  /** How many places of this turn each dealer's requests have taken. A new map each time: a map that is cleared keeps what it had. */
  let begun = new Map<string, number>();
  let isTurnOpen = false;
  let lastDealer: string | null = null;
  let changedAtMs = Number.NEGATIVE_INFINITY;

  function isAlone(dealer: string): boolean {
    const nowMs = now();
    if (dealer !== lastDealer) {
      if (lastDealer !== null) changedAtMs = nowMs;
      lastDealer = dealer;
    }
    return nowMs - changedAtMs >= ALONE_AFTER_MS;
  }

  function hasRoom(dealer: string): boolean {
    return (begun.get(dealer) ?? 0) < REQUESTS_PER_TURN;
  }

  function start(dealer: string, { begin, places }: Waiting): void {
    if (!isTurnOpen) setImmediate(nextTurn);
    isTurnOpen = true;
    if (begin()) begun.set(dealer, (begun.get(dealer) ?? 0) + places);
  }

  function nextTurn(): void {
    isTurnOpen = false;
    begun = new Map();
    for (const [dealer, senders] of [...waiting]) {
      while (senders.size > 0 && hasRoom(dealer)) start(dealer, takeNext(senders));
      if (senders.size === 0) waiting.delete(dealer);
    }
  }

  return {
    take({ group: dealer, key: sender }, begin, places = 1) {
      const request = { begin, places };
      const mayBegin = isAlone(dealer) || hasRoom(dealer);
      const senders = waiting.get(dealer);
      if (senders !== undefined) append(senders, sender, request);
      else if (mayBegin) start(dealer, request);
      // A turn is open: requests of this dealer have begun in it.
      else waiting.set(dealer, new Map([[sender, [request]]]));
    },
  };
}

function append(senders: Map<string, Waiting[]>, sender: string, request: Waiting): void {
  const queue = senders.get(sender);
  if (queue === undefined) senders.set(sender, [request]);
  else queue.push(request);
}

/** The next request of the sender whose turn it is; its others wait behind those of all other senders. */
function takeNext(senders: Map<string, Waiting[]>): Waiting {
  const [sender = ''] = senders.keys();
  const queue = senders.get(sender) ?? [];
  const request = queue.shift() as Waiting;
  senders.delete(sender);
  if (queue.length > 0) senders.set(sender, queue);
  return request;
}
