import type { EndpointIds } from '../endpoints/endpoint-ids.ts';

/**
 * Counts the attempts in flight in this worker and says how many more it may claim. An attempt takes a slot. One endpoint
 * may take an eighth of the free slots, one dealer half of them with all endpoints, and one claim half of them, so that there are
 * free slots for the next dealer however many receivers never answer. With n dealers whose receivers never answer, each ends
 * up with limit / (2 + n) slots. What has a share of all bytes in flight, an eighth for an endpoint and a quarter for a dealer,
 * waits, and a claim takes half of the free bytes, so that large events leave bytes for the others.
 */
export type ConcurrencyLimit = {
  /** Attempts in flight, by integration and by organization. */
  readonly inFlight: ReadonlyMap<string, number>;
  readonly inFlightByDealer: ReadonlyMap<string, number>;
  total(): number;
  /** The size of the bodies in flight. */
  bytes(): number;
  /** The size of the bodies in flight of each dealer, and how large it may become. */
  readonly bytesByDealer: ReadonlyMap<string, number>;
  readonly bytesPerDealer: number;
  /** Whether bodies of so many bytes are in flight to an endpoint, or to all of its dealer, that it has to wait. */
  hasManyBytes(endpoint: EndpointIds): boolean;
  /** The endpoints and the dealers of which that is so. */
  withManyBytes(): { integrationIds: string[]; organizationIds: string[] };
  /**
   * How many more may be claimed now, and how many one endpoint and one dealer may have in flight, if so many workers share the
   * endpoint. `asked` are slots that another claim may be about to take.
   */
  available(workers: number, asked?: number): AvailableSlots;
  acquire(endpoint: EndpointIds, bytes: number): void;
  release(endpoint: EndpointIds, bytes: number): void;
};

export type AvailableSlots = { total: number; perEndpoint: number; perDealer: number };

/** An endpoint may take this part of the free slots: one in eight. */
const ENDPOINT_SHARE = 8;
/** A dealer one in two, with all endpoints: with fewer, one dealer's long queue went a third slower. Of the bytes one in four. */
const DEALER_SHARE = 2;
const DEALER_BYTES_SHARE = 4;
/** And a claim one in two, of the free bytes as well. */
export const CLAIM_SHARE = 2;

export function createConcurrencyLimit(
  limit: number,
  limitPerEndpoint: number,
  bytesLimit: number = Number.MAX_SAFE_INTEGER,
): ConcurrencyLimit {
  const slots = { byEndpoint: new Map<string, number>(), byDealer: new Map<string, number>() };
  const bytesOf = { byEndpoint: new Map<string, number>(), byDealer: new Map<string, number>() };
  const bytesPerEndpoint = bytesLimit / ENDPOINT_SHARE;
  const bytesPerDealer = Math.floor(bytesLimit / DEALER_BYTES_SHARE);
  let total = 0;
  let totalBytes = 0;

  function count({ integrationId, organizationId }: EndpointIds, attempts: number, bytes: number): void {
    raise(slots.byEndpoint, integrationId, attempts);
    raise(slots.byDealer, organizationId, attempts);
    raise(bytesOf.byEndpoint, integrationId, bytes);
    raise(bytesOf.byDealer, organizationId, bytes);
    total += attempts;
    totalBytes += bytes;
  }

  return {
    inFlight: slots.byEndpoint,
    inFlightByDealer: slots.byDealer,
    total: () => total,
    bytes: () => totalBytes,
    bytesByDealer: bytesOf.byDealer,
    bytesPerDealer,
    hasManyBytes: ({ integrationId, organizationId }) =>
      (bytesOf.byEndpoint.get(integrationId) ?? 0) >= bytesPerEndpoint ||
      (bytesOf.byDealer.get(organizationId) ?? 0) >= bytesPerDealer,
    withManyBytes: () => ({
      integrationIds: idsFrom(bytesOf.byEndpoint, bytesPerEndpoint),
      organizationIds: idsFrom(bytesOf.byDealer, bytesPerDealer),
    }),
    available(workers, asked = 0) {
      const free = Math.max(0, limit - total - asked);
      const share = Math.ceil(limitPerEndpoint / workers);
      return {
        total: Math.ceil(free / CLAIM_SHARE),
        perEndpoint: Math.max(1, Math.min(share, Math.floor(free / ENDPOINT_SHARE))),
        perDealer: Math.max(1, Math.floor(free / DEALER_SHARE)),
      };
    },
    acquire: (endpoint, bytes) => count(endpoint, 1, bytes),
    release: (endpoint, bytes) => count(endpoint, -1, -bytes),
  };
}

function raise(counts: Map<string, number>, id: string, by: number): void {
  const sum = (counts.get(id) ?? 0) + by;
  if (sum === 0) counts.delete(id);
  else counts.set(id, sum);
}

function idsFrom(counts: ReadonlyMap<string, number>, least: number): string[] {
  return [...counts].filter(([, count]) => count >= least).map(([id]) => id);
}
