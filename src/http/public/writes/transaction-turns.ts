import { createKeyedSemaphore, type Release } from '../../../concurrency/limits/keyed-semaphore.ts';
import { createTurns } from '../../../concurrency/limits/turns.ts';
import { shareOf } from '../../../dealers/integrations/admission.ts';
import type { PendingWrite } from './write-transaction.ts';

/**
 * How many transactions with several writes run at once. About half of the work of one is done by the thread of the
 * service, so two keep it busy; with more, each has fewer writes, and a write costs more. A transaction that waits for a
 * lock must not hold up other dealers, so the wait for a turn is short.
 */
const SHARED_TRANSACTIONS = { limit: 2, waitLimitMs: 50 };
/**
 * How many transactions of one dealer run at once. A hundred integrations would have all connections and both cores, and every
 * other dealer would wait: beside sixty of them, a neighbour's p99 went from 11 to 32 ms with four, and to 25 with two. They get
 * hardly fewer answers, since those that wait share a transaction.
 */
const TRANSACTIONS_PER_DEALER = 2;

/** Waits until the next transaction of an integration may begin, and returns what ends its turn. */
export function createTransactionTurns(): (write: PendingWrite, isSharing: boolean) => Promise<Release> {
  const transactions = createKeyedSemaphore({
    total: Number.POSITIVE_INFINITY,
    perKey: TRANSACTIONS_PER_DEALER,
    waitingTotal: Number.POSITIVE_INFINITY,
  });
  const shared = createTurns(SHARED_TRANSACTIONS);
  return async ({ item }, isSharing) => {
    const share = shareOf(item.integration);
    const end = await transactions.acquire(share);
    if (!isSharing) return end;
    const endShared = await shared.take(share);
    return () => {
      endShared();
      end();
    };
  };
}
