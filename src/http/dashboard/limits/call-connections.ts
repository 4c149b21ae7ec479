import { createConnectionLimit } from '../../../db/connection-limit.ts';
import type { DashboardContext } from '../call.ts';

/**
 * The context of one call. Whatever its handler starts at once, also while a file is sent, uses only the call's share of the
 * connections: a slot of an operation is worth nothing if the operation can send a query for each of a hundred channels.
 */
export function withConnectionLimit(context: DashboardContext): DashboardContext {
  const limited = createConnectionLimit();
  const { db, channel } = context;
  return { ...context, db: limited(db), channel: { ...channel, db: limited(channel.db) } };
}
