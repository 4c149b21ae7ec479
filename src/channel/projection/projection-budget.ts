import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/**
 * What one transaction of a job may project. It holds the clocks of all channels that it touches, and orders of those
 * integrations wait for them: with either limit reached, for less than a second. A hundred items with long descriptions on a
 * hundred channels in one transaction held them for 57 s.
 */
export const DOCUMENTS_LIMIT = 500;
const BYTES_LIMIT = 4 * 1_048_576;
/** A document without its description and attributes. */
const DOCUMENT_BYTES = 1_024;

/** An item that is going to be projected. */
export type PlannedItem = {
  /** Null if it is going to be made. */
  itemId: string | null;
  /** The only channels that it is projected onto; without them, all that it is or was on. */
  onlyOn?: readonly string[];
  /** Channels that it is going to be put on. */
  alsoOn?: readonly string[];
  /** How long the texts are that it is going to get. */
  newBytes?: number;
};

/** How many of these, from the first on, one transaction projects; one at least. Null is for what projects nothing. */
export async function countFitting(db: Queryable, planned: readonly (PlannedItem | null)[]): Promise<number> {
  if (planned.length < 2) return planned.length;
  const loads = await readLoads(
    db,
    planned.flatMap((item) => item?.itemId ?? []),
  );
  let documents = 0;
  let bytes = 0;
  for (const [index, item] of planned.entries()) {
    if (item === null) continue;
    const { itemId, onlyOn, alsoOn = [], newBytes = 0 } = item;
    const stored = loads.get(itemId ?? '') ?? NO_LOAD;
    const own = onlyOn?.length ?? stored.channels + alsoOn.length;
    documents += own;
    bytes += own * (DOCUMENT_BYTES + stored.textBytes + newBytes);
    if (index > 0 && (documents > DOCUMENTS_LIMIT || bytes > BYTES_LIMIT)) return index;
  }
  return planned.length;
}

type Load = { channels: number; textBytes: number };
const NO_LOAD: Load = { channels: 0, textBytes: 0 };

async function readLoads(db: Queryable, itemIds: string[]): Promise<Map<string, Load>> {
  if (itemIds.length === 0) return new Map();
  const rows = await db.query<Load & { id: string }>(sql`
    select i.id, octet_length(i.description) + octet_length(i.attributes::text) as "textBytes",
      (select count(*) from publications p where p.item_id = i.id)::integer as channels
    from items i where i.id = any(${itemIds}::text[])`);
  return new Map(rows.map(({ id, ...load }) => [id, load]));
}
