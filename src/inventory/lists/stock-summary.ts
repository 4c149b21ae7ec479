import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/**
 * Counts an item's photos and the channels it is on into its own row, which is locked, so that a list filters by them
 * with an index. Rows whose counts stand are not written.
 */
export async function summarizeItems(tx: Transaction, itemIds: string[]): Promise<void> {
  if (itemIds.length === 0) return;
  await tx.query(sql`
    update items i set channel_count = counted.channels, photo_count = counted.photos
    from (
      select item.id,
        (select count(*) from publications p where p.item_id = item.id and p.is_on) as channels,
        (select count(*) from photos p where p.item_id = item.id) as photos
      from unnest(${itemIds}::text[]) as item (id)) counted
    where i.id = counted.id and (i.channel_count, i.photo_count) is distinct from (counted.channels, counted.photos)`);
}
