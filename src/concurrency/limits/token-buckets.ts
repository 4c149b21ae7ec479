/**
 * A token bucket for each key: so many requests at once, then so many a second. In memory, and bounded: of too many keys the
 * one that was used least lately is forgotten, and its bucket is full again.
 */
export type TokenBuckets = {
  /** Takes a token. Answers 0, or how long to wait until there is one; then nothing was taken. */
  take(key: string): number;
  /** Takes what was used already, as time that is only known afterwards. The bucket may owe some of it. */
  spend(key: string, tokens: number): void;
  /** How many milliseconds it takes until the bucket owes nothing. */
  debtMs(key: string): number;
};

export type BucketLimits = { burst: number; perSecond: number; keys: number };

type Bucket = { tokens: number; filledAtMs: number };

export function createTokenBuckets(
  { burst, perSecond, keys }: BucketLimits,
  now: () => number = () => performance.now(),
): TokenBuckets {
  /** In the order of their last use. */
  const buckets = new Map<string, Bucket>();

  function filled(key: string): Bucket {
    const nowMs = now();
    const bucket = buckets.get(key) ?? { tokens: burst, filledAtMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.filledAtMs) / 1_000) * perSecond);
    bucket.filledAtMs = nowMs;
    buckets.delete(key);
    buckets.set(key, bucket);
    const [oldest] = buckets.keys();
    if (buckets.size > keys && oldest !== undefined) buckets.delete(oldest);
    return bucket;
  }

  return {
    take(key) {
      const bucket = filled(key);
      if (bucket.tokens < 1) return ((1 - bucket.tokens) / perSecond) * 1_000;
      bucket.tokens -= 1;
      return 0;
    },
    spend(key, tokens) {
      filled(key).tokens -= tokens;
    },
    debtMs(key) {
      return Math.max(0, (-filled(key).tokens / perSecond) * 1_000);
    },
  };
}
