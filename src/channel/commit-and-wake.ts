import type { Transaction, TransactionOptions } from '../db/database.ts';
import type { ChannelContext } from './context.ts';

/**
 * Runs a change of channels in one transaction, and after its commit wakes the delivery workers for the integrations that
 * the change touched. Every write that can record events goes through here: a wake-up before the commit would find nothing,
 * and a write that forgets the wake-up sends its webhooks only at the next poll.
 */
export async function commitAndWake<Result extends { touched: readonly string[] }>(
  context: ChannelContext,
  work: (tx: Transaction) => Promise<Result>,
  options?: TransactionOptions,
): Promise<Result> {
  const result = await context.db.transaction(work, options);
  if (result.touched.length > 0) context.onEvents([...result.touched]);
  return result;
}
