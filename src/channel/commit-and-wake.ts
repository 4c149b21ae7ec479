import type { Transaction, TransactionOptions } from '../db/database.ts';
import { type CommitClaims, claimWith } from '../webhooks/delivery-queue/claim-at-commit.ts';
import type { ChannelContext } from './context.ts';

/**
 * Runs a change of channels in one transaction. After its commit the delivery worker of this process sends what the
 * transaction claimed for it, and workers are woken for what it left in the queue. Every write that can record events
 * goes through here: a wake-up before the commit would find nothing, and a write that forgets the wake-up sends its
 * webhooks only at the next poll.
 */
export async function commitAndWake<Result extends { touched: readonly string[] }>(
  context: ChannelContext,
  work: (tx: Transaction) => Promise<Result>,
  options?: TransactionOptions,
): Promise<Result> {
  const claims: { current: CommitClaims | null } = { current: null };
  try {
    const result = await context.db.transaction(async (tx) => {
      // After a deadlock the transaction is tried again.
      claims.current?.cancel();
      claims.current = openClaims(context, options);
      if (claims.current !== null) claimWith(tx, claims.current);
      return await work(tx);
    }, options);
    claims.current?.send();
    if (result.touched.length > 0) context.onEvents([...result.touched], claims.current?.hasQueued() ?? true);
    return result;
  } catch (error) {
    claims.current?.cancel();
    throw error;
  }
}

/** Only where plans are made by key: the look at an endpoint's queue must never read all deliveries. */
function openClaims(context: ChannelContext, options: TransactionOptions | undefined): CommitClaims | null {
  return options?.planning === 'once' ? (context.claimAtCommit?.() ?? null) : null;
}
