import { setTimeout as sleep } from 'node:timers/promises';
import { createTokenBuckets, type TokenBuckets } from '../../concurrency/limits/token-buckets.ts';
import { RECEIVER_TIME_BURST_MS, RECEIVER_TIME_MS_PER_SECOND } from '../../contract/limits.ts';

const KNOWN_DEALERS = 10_000;

/** The CPU time that a dealer's receivers and their name servers make us use, as far as it is more than usual. */
export const receiverTimes: TokenBuckets = createTokenBuckets({
  burst: RECEIVER_TIME_BURST_MS,
  perSecond: RECEIVER_TIME_MS_PER_SECOND,
  keys: KNOWN_DEALERS,
});

/** Resolves when the dealer owes no time. */
export async function untilPaid(times: TokenBuckets, dealer: string, signal?: AbortSignal): Promise<void> {
  for (let waitMs = times.debtMs(dealer); waitMs > 0; waitMs = times.debtMs(dealer)) {
    await sleep(waitMs, undefined, { ref: false, signal });
  }
}
