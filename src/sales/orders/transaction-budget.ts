import { ORDER_LINES_LIMIT } from '../../contract/limits.ts';
import { PIECE_BYTES } from '../../db/large-pages.ts';

/** What one more order adds to the work of a transaction. */
export type OrderLoad = { documentBytes: number; lines: number; itemIds: readonly string[] };

/** A line may have two bytes in a body, and takes a row and its part of the answer: 5,000 of them took 45 ms. */
const LINES_LIMIT = 5 * ORDER_LINES_LIMIT;
/** What clients read of an item is made anew when its stock moves: 200 listings took 30 ms. */
const ITEMS_LIMIT = ORDER_LINES_LIMIT;

/**
 * Says of one order after the other whether the transaction still takes it; the first always fits. The work of a transaction
 * is done in one go, and 25 cancellations of orders of 0.7 MB kept the event loop from every other client for 140 ms.
 *
 * Orders that are about the same items share what is done for these, so items count once.
 */
export function openTransactionBudget(): { takes(order: OrderLoad): boolean } {
  const items = new Set<string>();
  let orders = 0;
  let documentBytes = 0;
  let lines = 0;
  return {
    takes(order) {
      const isWithin = documentBytes < PIECE_BYTES && lines + order.lines <= LINES_LIMIT;
      const added = new Set(order.itemIds).difference(items);
      if (orders > 0 && !(isWithin && items.size + added.size <= ITEMS_LIMIT)) return false;
      orders += 1;
      documentBytes += order.documentBytes;
      lines += order.lines;
      for (const id of added) items.add(id);
      return true;
    },
  };
}
