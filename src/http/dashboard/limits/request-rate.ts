import { type BucketLimits, createTokenBuckets } from '../../../concurrency/limits/token-buckets.ts';
import { REQUESTS_AT_ONCE, REQUESTS_PER_SECOND } from '../../../contract/dashboard/limits.ts';
import { DashboardError } from '../dashboard-error.ts';

/**
 * The rate limit of the dashboard, counted in this process. A page makes a dozen requests when it opens, so nobody at a
 * browser reaches these limits; a program that sends requests in a loop does. Each function throws `too_many_requests`.
 */
export type RequestRate = {
  /** Checked before the session is looked up, since the lookup costs more than most operations. */
  countSession(cookie: string | null): void;
  /** Counts the sessions of one person together; before the lookup, too, where this process knows whose the cookie is. */
  countPerson(userId: string): void;
  /** Counts requests without a valid session by the network of their address. */
  countNetwork(network: string): void;
};

export type RequestRateLimits = Omit<BucketLimits, 'keys'>;

const LIMITS: RequestRateLimits = { burst: REQUESTS_AT_ONCE, perSecond: REQUESTS_PER_SECOND };
const KEYS = 20_000;
/** Longer than any session's cookie, so that a long one made up takes no memory. */
const COOKIE_LENGTH = 300;

export function createRequestRate(limits: RequestRateLimits = LIMITS): RequestRate {
  const sessions = createTokenBuckets({ ...limits, keys: KEYS });
  const people = createTokenBuckets({ ...limits, keys: KEYS });
  const networks = createTokenBuckets({ ...limits, keys: KEYS });
  return {
    countSession(cookie) {
      if (cookie !== null) refuse(sessions.take(cookie.slice(0, COOKIE_LENGTH)));
    },
    countPerson: (userId) => refuse(people.take(userId)),
    countNetwork: (network) => refuse(networks.take(network)),
  };
}

function refuse(waitMs: number): void {
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1_000);
  throw new DashboardError('too_many_requests', 'That is more than this page may ask at once. Try again in a moment.', {
    headers: { 'Retry-After': String(seconds) },
  });
}
