import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { UNDO_LIMIT_DAYS } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { PHOTOS_PER_ITEM_LIMIT } from '../../contract/limits.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { newId } from '../../ids/new-id.ts';
import { changeItem } from '../change-items.ts';
import { prepareUpload, rotateQuarter, type UploadWait } from './encode-photos.ts';
import { EXTENSION_OF, type PhotoFormat } from './photo-variants.ts';
import { type PhotoFiles, readOriginal } from './storage/photo-files.ts';

export const PHOTOS_MAX = PHOTOS_PER_ITEM_LIMIT;

/** What adding a photo needs besides the channel. */
export type PhotoContext = ChannelContext & { photoFiles: PhotoFiles };

/**
 * Adds a photo behind those that the item has. The file is there before the row is: a row never names a file that is
 * missing, and a file whose row was not committed is known to nobody and swept away later.
 */
export async function addPhoto(
  context: PhotoContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  upload: Buffer,
  wait: UploadWait = {},
): Promise<string> {
  const { bytes, format, width, height } = await prepareUpload(organizationId, upload, wait);
  const id = newId('photo');
  await context.photoFiles.write(id, `original.${EXTENSION_OF[format]}`, bytes, wait.signal);
  const add = () =>
    changeItem(context, { organizationId, itemId }, async (tx) => {
      // The item's row is locked, so no other photo can take the position that is counted here.
      const count = await countPhotos(tx, itemId);
      if (count >= PHOTOS_MAX) throw tooManyPhotos();
      await tx.query(sql`
        insert into photos (id, item_id, organization_id, position, width, height, format)
        values (${id}, ${itemId}, ${organizationId}, ${count + 1}, ${width}, ${height}, ${format})`);
      await recordAudit(tx, actor, {
        organizationId,
        action: 'photo.added',
        object: { kind: 'item', id: itemId },
        new: { photoId: id, position: count + 1 },
        at: context.now(),
      });
    });
  await forgetFileIfRefused(context, id, add);
  return id;
}

/** Removes a photo; those after it move up. Its files are kept, so that it can be put back. Returns the audit row. */
export async function removePhoto(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  photoId: string,
): Promise<string | null> {
  return await changeItem(context, { organizationId, itemId }, async (tx) => {
    const [removed] = await tx.query<{ position: number }>(sql`
      with gone as (
        delete from photos where id = ${photoId} and item_id = ${itemId}
        returning id, item_id, organization_id, position, width, height, format)
      insert into removed_photos (id, item_id, organization_id, position, width, height, format, removed_at)
      select id, item_id, organization_id, position, width, height, format, ${clockTime(context.now())} from gone
      returning position`);
    if (removed === undefined) throw missingPhoto(photoId);
    await tx.query(sql`
      update photos set position = position - 1 where item_id = ${itemId} and position > ${removed.position}`);
    return await recordAudit(tx, actor, {
      organizationId,
      action: 'photo.removed',
      object: { kind: 'item', id: itemId },
      old: { photoId, position: removed.position },
      undo: { operation: 'restore_photo' },
      at: context.now(),
    });
  });
}

/** Puts a photo back at its old position, or at the end if there are fewer photos now. Returns the audit row. */
export async function restorePhoto(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  photoId: string,
  undoes?: string,
): Promise<string | null> {
  return await changeItem(context, { organizationId, itemId }, async (tx) => {
    const count = await countPhotos(tx, itemId);
    if (count >= PHOTOS_MAX) throw tooManyPhotos();
    const [removed] = await tx.query<RemovedPhoto>(sql`
      delete from removed_photos where id = ${photoId} and item_id = ${itemId}
      returning position, width, height, format`);
    if (removed === undefined) {
      const message = `This photo can’t be put back: it is there already, or it was removed more than ${UNDO_LIMIT_DAYS} days ago.`;
      throw new DomainError('not_found', message, 'photo');
    }
    const position = Math.min(removed.position, count + 1);
    await tx.query(sql`
      update photos set position = position + 1 where item_id = ${itemId} and position >= ${position}`);
    await tx.query(sql`
      insert into photos (id, item_id, organization_id, position, width, height, format)
      values (${photoId}, ${itemId}, ${organizationId}, ${position}, ${removed.width}, ${removed.height},
        ${removed.format})`);
    return await recordAudit(tx, actor, {
      organizationId,
      action: 'photo.restored',
      object: { kind: 'item', id: itemId },
      new: { photoId, position },
      ...(undoes === undefined ? {} : { undoes }),
      at: context.now(),
    });
  });
}

type RemovedPhoto = { position: number; width: number; height: number; format: PhotoFormat };

/**
 * Turns a photo by a quarter to the right. What stands under a photo's id never changes, since browsers keep it for good:
 * the turned picture is another photo in the same position.
 */
export async function rotatePhoto(
  context: PhotoContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  photoId: string,
  wait: UploadWait = {},
): Promise<string> {
  const [photo] = await context.db.query<{ format: PhotoFormat; width: number; height: number }>(sql`
    select format, width, height from photos
    where id = ${photoId} and item_id = ${itemId} and organization_id = ${organizationId}`);
  if (photo === undefined) throw missingPhoto(photoId);
  const original = await readOriginal(context.photoFiles, photoId, photo.format, wait.signal);
  if (original === null) throw new DomainError('not_found', 'The file of this photo is lost.', 'photo');
  const { bytes, width, height } = await rotateQuarter(organizationId, original, photo, wait);
  const id = newId('photo');
  await context.photoFiles.write(id, `original.${EXTENSION_OF[photo.format]}`, bytes, wait.signal);
  const replace = () =>
    changeItem(context, { organizationId, itemId }, async (tx) => {
      const [old] = await tx.query<{ position: number }>(sql`
        delete from photos where id = ${photoId} and item_id = ${itemId} returning position`);
      if (old === undefined) throw missingPhoto(photoId);
      await tx.query(sql`
        insert into photos (id, item_id, organization_id, position, width, height, format)
        values (${id}, ${itemId}, ${organizationId}, ${old.position}, ${width}, ${height}, ${photo.format})`);
      await recordAudit(tx, actor, {
        organizationId,
        action: 'photo.rotated',
        object: { kind: 'item', id: itemId },
        old: { photoId },
        new: { photoId: id },
        at: context.now(),
      });
    });
  await forgetFileIfRefused(context, id, replace);
  context.onPhotosRemoved?.([photoId]);
  return id;
}

/**
 * Puts the photos of an item in another order: the ids of all of them, the main one first. With `from`, only if that is
 * still their order. Returns the audit row, or null if they stand so already.
 */
export async function orderPhotos(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  itemId: string,
  photoIds: string[],
  { from, undoes }: { from?: string[]; undoes?: string } = {},
): Promise<string | null> {
  return await changeItem(context, { organizationId, itemId }, async (tx) => {
    const rows = await tx.query<{ id: string }>(sql`
      select id from photos where item_id = ${itemId} order by position`);
    const current = rows.map((row) => row.id);
    if (from !== undefined && !isDeepStrictEqual(from, current)) {
      throw new DomainError('changed_meanwhile', 'The photos have been changed since.', 'photos');
    }
    const known = new Set(current);
    const isSame = photoIds.length === known.size && new Set(photoIds).size === known.size;
    if (!isSame || !photoIds.every((id) => known.has(id))) {
      throw new DomainError('invalid_input', 'The order must name every photo of the item once.', 'photos');
    }
    await tx.query(sql`
      update photos p set position = wanted.position
      from unnest(${photoIds}::text[]) with ordinality as wanted (id, position)
      where p.id = wanted.id and p.item_id = ${itemId}`);
    return await recordAudit(tx, actor, {
      organizationId,
      action: 'photo.order_changed',
      object: { kind: 'item', id: itemId },
      old: { photoIds: current },
      new: { photoIds },
      undo: { operation: 'order_photos' },
      ...(undoes === undefined ? {} : { undoes }),
      at: context.now(),
    });
  });
}

/** Or anybody could fill the disk until the next sweep: by turning one photo many times at once, for example. */
async function forgetFileIfRefused(context: PhotoContext, id: string, addRow: () => Promise<void>): Promise<void> {
  try {
    await addRow();
  } catch (error) {
    // A fault after the commit was sent leaves it open whether the row is there; then the sweep decides.
    if (error instanceof DomainError) await context.photoFiles.remove([id]).catch(() => {});
    throw error;
  }
}

async function countPhotos(tx: Transaction, itemId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`
    select count(*) as count from photos where item_id = ${itemId}`);
  return row?.count ?? 0;
}

function tooManyPhotos(): DomainError {
  return new DomainError('invalid_input', `An item has at most ${PHOTOS_MAX} photos.`, 'photo');
}

function missingPhoto(photoId: string): DomainError {
  return new DomainError('not_found', `There is no photo ${photoId}.`, 'photo');
}
