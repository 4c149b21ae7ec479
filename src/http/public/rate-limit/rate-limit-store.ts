/** Whether one request could spend its tokens. */
export type Spending = {
  isAllowed: boolean;
  /** Tokens left in the window. */
  remaining: number;
  /** How long until the last token now counted leaves the window. */
  resetInMs: number;
  /** How long until this cost fits, if it does not. */
  waitMs: number;
};

/**
 * Counts what integrations spend in a rolling window of 60 seconds: in no such span is more than the cap admitted, and
 * a refusal spends nothing. The cap comes with each call, so a changed override holds from the next request. The counting
 * is in `memory-store.ts`, and for several nodes in the SQL function `spend_tokens`, which `postgres-store.ts` calls.
 */
export type RateLimitStore = {
  spend(integrationId: string, cap: number, cost: number): Promise<Spending>;
  /** Looks at the window without spending anything: how many tokens were spent in the last 60 seconds. */
  used(integrationId: string): Promise<number>;
};
