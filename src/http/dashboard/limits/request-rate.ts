import { type BucketLimits, createTokenBuckets } from '../../../concurrency/limits/token-buckets.ts';
import { REQUESTS_AT_ONCE, REQUESTS_PER_SECOND } from '../../../contract/dashboard/limits.ts';
import { DashboardError } from '../dashboard-error.ts';

/**
 * How often somebody may ask the dashboard, counted in this process. A page makes a dozen requests when it opens, so nobody at a
 * browser meets these limits; a program that asks in a loop does. Each call throws `too_many_requests`.
 */
export type RequestRate = {
  /** Before the session is looked up, since the lookup costs more than most operations. */
  countSession(cookie: string | null): void;
  /** A person may have many sessions. */
  countPerson(userId: string): void;
  /** Whoever has no session, or one that has ended. */
  countAddress(address: string): void;
};

export type RequestRateLimits = Omit<BucketLimits, 'keys'>;

const LIMITS: RequestRateLimits = { burst: REQUESTS_AT_ONCE, perSecond: REQUESTS_PER_SECOND };
const KEYS = 20_000;
/** Longer than any session's cookie, so that a long one made up takes no memory. */
const COOKIE_LENGTH = 300;

export function createRequestRate(limits: RequestRateLimits = LIMITS): RequestRate {
  const sessions = createTokenBuckets({ ...limits, keys: KEYS });
  const people = createTokenBuckets({ ...limits, keys: KEYS });
  const addresses = createTokenBuckets({ ...limits, keys: KEYS });
  return {
    countSession(cookie) {
      if (cookie !== null) refuse(sessions.take(cookie.slice(0, COOKIE_LENGTH)));
    },
    countPerson: (userId) => refuse(people.take(userId)),
    countAddress: (address) => refuse(addresses.take(address)),
  };
}

function refuse(waitMs: number): void {
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1_000);
  throw new DashboardError('too_many_requests', 'That is more than this page may ask at once. Try again in a moment.', {
    headers: { 'Retry-After': String(seconds) },
  });
}
