/**
 * Who has how many attempts under way here. A receiver may take an eighth of the places that are free, and no claim more
 * than half of them: so there are free places for the next receiver however many others hang. With n receivers that
 * never answer, each ends up with limit / (8 + n).
 */
export type Places = {
  readonly inFlight: ReadonlyMap<string, number>;
  total(): number;
  /** Of the bodies in flight. */
  bytes(): number;
  /** How many more may be claimed now, and how many one receiver may have in flight, if so many workers share it. */
  room(workers: number): { limit: number; perReceiver: number };
  take(receiver: string, bytes: number): void;
  leave(receiver: string, bytes: number): void;
};

const SHARE_OF_ONE = 8;
const SHARE_OF_A_CLAIM = 2;

export function createPlaces(limit: number, limitPerReceiver: number): Places {
  const inFlight = new Map<string, number>();
  let total = 0;
  let totalBytes = 0;
  return {
    inFlight,
    total: () => total,
    bytes: () => totalBytes,
    room(workers) {
      const free = limit - total;
      const share = Math.ceil(limitPerReceiver / workers);
      return {
        limit: Math.ceil(free / SHARE_OF_A_CLAIM),
        perReceiver: Math.max(1, Math.min(share, Math.floor(free / SHARE_OF_ONE))),
      };
    },
    take(receiver, bytes) {
      inFlight.set(receiver, (inFlight.get(receiver) ?? 0) + 1);
      total += 1;
      totalBytes += bytes;
    },
    leave(receiver, bytes) {
      const left = (inFlight.get(receiver) ?? 1) - 1;
      if (left === 0) inFlight.delete(receiver);
      else inFlight.set(receiver, left);
      total -= 1;
      totalBytes -= bytes;
    },
  };
}
