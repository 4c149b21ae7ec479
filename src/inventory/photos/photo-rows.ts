import type { ChannelContext } from '../../channel/context.ts';
import { projectItems } from '../../channel/projection/project-items.ts';
import { PHOTOS_PER_ITEM_LIMIT } from '../../contract/limits.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { lockItems } from '../change-items.ts';
import { summarizeItems } from '../lists/stock-summary.ts';
import type { PhotoFormat } from './photo-variants.ts';

/** A photo whose file is stored already. */
export type StoredPhoto = {
  id: string;
  itemId: string;
  width: number;
  height: number;
  format: PhotoFormat;
  /** A digest of where it came from: the same is not taken twice for an item. */
  source: string;
};

const PHOTO_COLUMNS = {
  id: 'text',
  itemId: 'text',
  width: 'integer',
  height: 'integer',
  format: 'text',
  source: 'text',
} as const;

/**
 * Adds stored photos behind those that their items have, in the caller's transaction. What would be too many for an item, or
 * came from a source that the item has had, is left out, and leaves no row. Returns those that were added.
 */
export async function addStoredPhotos(
  tx: Transaction,
  context: ChannelContext,
  organizationId: string,
  photos: StoredPhoto[],
): Promise<{ added: { id: string; itemId: string }[]; touched: string[] }> {
  const wanted = [...new Set(photos.map((photo) => photo.itemId))];
  const itemIds = (await lockItems(tx, organizationId, wanted)).map((item) => item.id);
  const added = await tx.query<{ id: string; itemId: string }>(sql`
    with fresh as (
      select distinct on (item_id, source) id, item_id, width, height, format, source, number
      from ${unnestRows('rows', photos, PHOTO_COLUMNS, 'number')}
      where item_id = any(${itemIds}::text[]) and not exists (
        select from photo_sources s where s.item_id = rows.item_id and s.source = rows.source)
      order by item_id, source, number),
    placed as (
      select id, item_id, width, height, format, source, row_number() over (partition by item_id order by number)
        + (select count(*) from photos p where p.item_id = fresh.item_id) as position
      from fresh),
    taken as (
      select id, item_id, width, height, format, source, position from placed
      where position <= ${PHOTOS_PER_ITEM_LIMIT}),
    new_source as (
      insert into photo_sources (item_id, organization_id, source, photo_id)
      select item_id, ${organizationId}, source, id from taken)
    insert into photos (id, item_id, organization_id, position, width, height, format)
    select id, item_id, ${organizationId}, position, width, height, format from taken
    returning id, item_id as "itemId"`);
  await forgetOldestSources(tx, itemIds);
  return { added, touched: await projectPhotos(tx, context, itemIds) };
}

/**
 * How many sources are remembered for one item, including those of removed photos. The oldest are forgotten; their
 * photos could then be imported again.
 */
export const PHOTO_SOURCES_LIMIT = 500;

async function forgetOldestSources(tx: Transaction, itemIds: string[]): Promise<void> {
  await tx.query(sql`
    delete from photo_sources s using (
      select item_id, source, row_number() over (partition by item_id order by photo_id desc) as number
      from photo_sources where item_id = any(${itemIds}::text[])) counted
    where counted.number > ${PHOTO_SOURCES_LIMIT} and s.item_id = counted.item_id and s.source = counted.source`);
}

/** Takes photos away, as by hand: those behind them move up, and their files are kept so that they can be put back. */
export async function takePhotosAway(
  tx: Transaction,
  context: ChannelContext,
  organizationId: string,
  itemIds: string[],
  photoIds: string[],
): Promise<{ removed: { id: string; itemId: string }[]; touched: string[] }> {
  const lockedIds = (await lockItems(tx, organizationId, itemIds)).map((item) => item.id);
  const removed = await tx.query<{ id: string; itemId: string }>(sql`
    with gone as (
      delete from photos where id = any(${photoIds}::text[]) and item_id = any(${lockedIds}::text[])
      returning id, item_id, organization_id, position, width, height, format)
    insert into removed_photos (id, item_id, organization_id, position, width, height, format, removed_at)
    select id, item_id, organization_id, position, width, height, format, ${clockTime(context.now())} from gone
    returning id, item_id as "itemId"`);
  await tx.query(sql`
    delete from photo_sources where item_id = any(${lockedIds}::text[]) and photo_id = any(${photoIds}::text[])`);
  await tx.query(sql`
    update photos p set position = counted.position
    from (select id, row_number() over (partition by item_id order by position) as position
      from photos where item_id = any(${lockedIds}::text[])) counted
    where p.id = counted.id and p.position <> counted.position`);
  return { removed, touched: await projectPhotos(tx, context, lockedIds) };
}

async function projectPhotos(tx: Transaction, context: ChannelContext, itemIds: string[]): Promise<string[]> {
  await summarizeItems(tx, itemIds);
  const { stamps } = await projectItems(tx, context, { itemIds, integrationIds: null });
  return [...stamps.keys()];
}

/** Which sources items have had already, as "item source". */
export async function knownSources(tx: Pick<Transaction, 'query'>, itemIds: string[]): Promise<Set<string>> {
  const rows = await tx.query<{ itemId: string; source: string }>(sql`
    select item_id as "itemId", source from photo_sources where item_id = any(${itemIds}::text[])`);
  return new Set(rows.map(({ itemId, source }) => `${itemId} ${source}`));
}
