import type { LookupAddress } from 'node:dns';
import { createKeyedSemaphore, SemaphoreError } from '../../../concurrency/limits/keyed-semaphore.ts';
import type { TokenBuckets } from '../../../concurrency/limits/token-buckets.ts';
import { createSingleFlight } from '../../../concurrency/single-flight.ts';
import { DNS_ANSWER_KEPT_SECONDS } from '../../../contract/limits.ts';
import { receiverTimes, untilPaid } from '../receiver-time.ts';
import { type Resolve, resolveBySystem } from './resolve.ts';
import { DnsThreadError, resolveInThread } from './resolve-in-thread.ts';

/**
 * The addresses of a dealer's receivers by their names. A dealer has one lookup at a time; its other names wait for it, so that
 * names whose servers are silent, or whose answers are long, occupy nothing that other dealers need. An answer, or the lack of
 * one, is used for a few seconds. Connections to one name that are opened at the same time share a lookup.
 */
export type NameLookups = (dealer: string, hostname: string, timeoutMs: number) => Promise<LookupAddress[]>;

export type NameLookupOptions = { times?: TokenBuckets; keptMs?: number; now?: () => number };

/** An answer, or why there is none. */
type Outcome = { addresses: LookupAddress[] } | { error: unknown };
type Kept = { outcome: Outcome; untilMs: number };

const LOOKUPS_AT_ONCE = 1_000;
const LOOKUPS_AT_ONCE_PER_DEALER = 1;
const WAITING_LIMIT = 10_000;
/** As many as a dealer has integrations, and some for photos. */
const WAITING_LIMIT_PER_DEALER = 200;
/** Each may hold sixteen addresses. */
const KEPT_LIMIT = 2_000;

export function createNameLookups(
  resolve: Resolve,
  {
    times = receiverTimes,
    keptMs = DNS_ANSWER_KEPT_SECONDS * 1_000,
    now = () => performance.now(),
  }: NameLookupOptions = {},
): NameLookups {
  const turns = createKeyedSemaphore({
    total: LOOKUPS_AT_ONCE,
    perKey: LOOKUPS_AT_ONCE_PER_DEALER,
    waitingTotal: WAITING_LIMIT,
    waitingPerKey: WAITING_LIMIT_PER_DEALER,
  });
  const share = createSingleFlight<Outcome>();
  /** In the order in which they end. */
  const kept = new Map<string, Kept>();

  function findKept(key: string): Outcome | undefined {
    const found = kept.get(key);
    return found !== undefined && found.untilMs > now() ? found.outcome : undefined;
  }

  function keep(key: string, outcome: Outcome): void {
    kept.delete(key);
    kept.set(key, { outcome, untilMs: now() + keptMs });
    for (const [oldest, { untilMs }] of kept) {
      if (kept.size <= KEPT_LIMIT && untilMs > now()) break;
      kept.delete(oldest);
    }
  }

  async function ask(key: string, dealer: string, hostname: string): Promise<Outcome> {
    const outcome = await resolve(hostname, dealer).then(
      (addresses) => ({ addresses }),
      (error: unknown) => ({ error }),
    );
    if (!('error' in outcome && outcome.error instanceof DnsThreadError)) keep(key, outcome);
    return outcome;
  }

  async function askInTurn(key: string, dealer: string, hostname: string, signal: AbortSignal): Promise<Outcome> {
    const work = async () => {
      await untilPaid(times, dealer, signal);
      // Those who asked before may have left while their lookup went on.
      return findKept(key) ?? (await ask(key, dealer, hostname));
    };
    try {
      return await turns.run(dealer, work, { signal });
    } catch (error) {
      throw error instanceof SemaphoreError && error.reason === 'full' ? new TooManyLookupsError() : error;
    }
  }

  return async (dealer, hostname, timeoutMs) => {
    const key = `${dealer} ${hostname}`;
    const outcome =
      findKept(key) ??
      (await withDeadline(timeoutMs, new LateLookupError(hostname), (signal) =>
        share(key, (abandoned) => askInTurn(key, dealer, hostname, abandoned), { signal }),
      ));
    if ('error' in outcome) throw outcome.error;
    return outcome.addresses;
  };
}

async function withDeadline<Result>(
  timeoutMs: number,
  reason: Error,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const deadline = setTimeout(() => late.abort(reason), timeoutMs);
  try {
    return await work(late.signal);
  } finally {
    clearTimeout(deadline);
  }
}

class LateLookupError extends Error {
  readonly code = 'ETIMEOUT';

  constructor(hostname: string) {
    super(`${hostname} was not looked up in time`);
  }
}

class TooManyLookupsError extends Error {
  readonly code = 'ERR_TOO_MANY_LOOKUPS';

  constructor() {
    super('too many other names wait to be looked up');
  }
}

const thread = resolveInThread();

/** One for the process each: they share its threads. */
export const systemLookups = createNameLookups(resolveBySystem);
export const dnsLookups = createNameLookups(thread.resolve);

/** The thread is started again by the next lookup. */
export const endDnsThread = thread.end;
