import { ApiError } from '../../../contract/errors.ts';
import type { Spending } from './rate-limit-store.ts';

/** Refuses a request with 429 if its tokens don't fit into the rate limit. */
export function assertWithinRateLimit(spending: Spending): void {
  if (spending.isAllowed) return;
  throw new ApiError('too_many_requests', { headers: { 'Retry-After': String(retryAfterSeconds(spending)) } });
}

/** What a response says about the rate limit. The reset is given in the time of the response's own Date header. */
export function rateHeaders(cap: number, spending: Spending, nowMs: number = Date.now()): Record<string, string> {
  return {
    'x-ratelimit-limit': String(cap),
    'x-ratelimit-remaining': String(spending.isAllowed ? spending.remaining : 0),
    'x-ratelimit-reset': String(Math.ceil((nowMs + spending.resetInMs) / 1000)),
  };
}

/** Whole seconds, rounded up so that they are enough, and at least one: after "0" a client would retry at once. */
export function retryAfterSeconds(spending: Spending): number {
  return Math.max(1, Math.ceil(spending.waitMs / 1000));
}
