import type { Database } from '../../../src/db/database.ts';
import { admissionCounter, type HeldLock, untilBlocked } from '../database/locks.ts';
import type { Shop } from '../shop.ts';
import type { ApiResponse } from './api-client.ts';

type Held = {
  lock: () => Promise<HeldLock>;
  /** A write that needs the lock. */
  first: () => Promise<ApiResponse>;
  /** What each write counts for the rate limit. */
  cost: number;
};

/** Sends writes while their lock is held: the first waits for it, the others queue behind it. */
export async function sendBehind(
  db: Database,
  shop: Shop,
  { lock, first, cost }: Held,
  send: () => Promise<ApiResponse>[],
): Promise<ApiResponse[]> {
  const untilAdmitted = await admissionCounter(shop);
  const held = await lock();
  const goesFirst = first();
  await untilBlocked(db);
  const sent = send();
  await untilAdmitted(cost * (sent.length + 1));
  await held.release();
  await goesFirst;
  return await Promise.all(sent);
}
