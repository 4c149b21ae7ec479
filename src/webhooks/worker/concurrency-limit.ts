/**
 * Counts the attempts in flight in this worker and says how many more it may claim. An attempt takes a slot. One endpoint
 * may take an eighth of the free slots, and one claim half of them, so that there are free slots for the next endpoint
 * however many others never answer. With n endpoints that never answer, each ends up with limit / (8 + n) slots. An endpoint
 * with an eighth of all bytes in flight waits, and a claim takes half of the free bytes, so that large events to one receiver
 * that hangs leave bytes for the others.
 */
export type ConcurrencyLimit = {
  /** Attempts in flight, by integration. */
  readonly inFlight: ReadonlyMap<string, number>;
  total(): number;
  /** The size of the bodies in flight. */
  bytes(): number;
  /** Whether bodies of so many bytes are in flight to one endpoint that it has to wait. */
  hasManyBytes(integrationId: string): boolean;
  /** The endpoints of which that is so. */
  withManyBytes(): string[];
  /**
   * How many more may be claimed now, and how many one endpoint may have in flight, if so many workers share it. `asked` are
   * slots that another claim may be about to take.
   */
  available(workers: number, asked?: number): { total: number; perEndpoint: number };
  acquire(integrationId: string, bytes: number): void;
  release(integrationId: string, bytes: number): void;
};

/** An endpoint may take this part of the free slots: one in eight. */
const ENDPOINT_SHARE = 8;
/** And a claim one in two, of the free bytes as well. */
export const CLAIM_SHARE = 2;

export function createConcurrencyLimit(
  limit: number,
  limitPerEndpoint: number,
  bytesLimit: number = Number.POSITIVE_INFINITY,
): ConcurrencyLimit {
  const inFlight = new Map<string, number>();
  const bytesInFlight = new Map<string, number>();
  const bytesShare = bytesLimit / ENDPOINT_SHARE;
  let total = 0;
  let totalBytes = 0;
  return {
    inFlight,
    total: () => total,
    bytes: () => totalBytes,
    hasManyBytes: (integrationId) => (bytesInFlight.get(integrationId) ?? 0) >= bytesShare,
    withManyBytes: () => [...bytesInFlight].filter(([, bytes]) => bytes >= bytesShare).map(([id]) => id),
    available(workers, asked = 0) {
      const free = Math.max(0, limit - total - asked);
      const share = Math.ceil(limitPerEndpoint / workers);
      return {
        total: Math.ceil(free / CLAIM_SHARE),
        perEndpoint: Math.max(1, Math.min(share, Math.floor(free / ENDPOINT_SHARE))),
      };
    },
    acquire(integrationId, bytes) {
      inFlight.set(integrationId, (inFlight.get(integrationId) ?? 0) + 1);
      bytesInFlight.set(integrationId, (bytesInFlight.get(integrationId) ?? 0) + bytes);
      total += 1;
      totalBytes += bytes;
    },
    release(integrationId, bytes) {
      const left = (inFlight.get(integrationId) ?? 1) - 1;
      if (left === 0) {
        inFlight.delete(integrationId);
        bytesInFlight.delete(integrationId);
      } else {
        inFlight.set(integrationId, left);
        bytesInFlight.set(integrationId, (bytesInFlight.get(integrationId) ?? bytes) - bytes);
      }
      total -= 1;
      totalBytes -= bytes;
    },
  };
}
