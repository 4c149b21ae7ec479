import { IMPORT_ZIP_LIMIT_MB, ZIPS_IN_USE_LIMIT } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { BYTES_PER_MB } from '../../contract/limits.ts';
import type { Database, Queryable, Transaction } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { assertBelowLimit, lockCount, type RowLimit } from '../../dealers/row-limit.ts';
import { newId } from '../../ids/new-id.ts';
import { findImportFile, type ImportFile, storableName } from './import-files.ts';
import { assertPhotoZip, ZIP_PIECE_BYTES } from './photo-zip.ts';

export const ZIP_LIMIT_BYTES = IMPORT_ZIP_LIMIT_MB * BYTES_PER_MB;
export const ZIP_TOO_LARGE = `A zip with photos may have at most ${IMPORT_ZIP_LIMIT_MB} MB. Split it into several.`;

/** After so long without a piece an upload has ended with its process. */
const ABANDONED_AFTER_MINUTES = 10;

type Upload = { id: string; file: ImportFile };

/**
 * Stores the zip with photos beside an import's file, as it comes: no more than a piece is in memory. Returns how many photos
 * are in it. Zips of imports that have ended go. Of two uploads beside one file the newer one stays.
 */
export async function storeZip(
  db: Database,
  organizationId: string,
  fileId: string,
  name: string,
  chunks: AsyncIterable<Buffer>,
): Promise<number> {
  const file = await findImportFile(db, organizationId, fileId);
  const upload = { id: newId('stockFile'), file };
  await db.transaction((tx) => beginUpload(tx, upload));
  try {
    const bytes = await storePieces(db, upload, chunks);
    const photos = await assertPhotoZip(db, { ...file, zipBytes: bytes });
    const ended = await db.query(sql`
      update stock_files set zip_name = ${storableName(name)}, zip_bytes = ${bytes}, zip_upload_id = null, zip_upload_at = null
      where id = ${file.id} and zip_upload_id = ${upload.id} returning id`);
    if (ended.length === 0) throw replaced();
    return photos;
  } catch (error) {
    await db.transaction((tx) => endUpload(tx, upload));
    throw error;
  }
}

/** Takes over the file, whose older zip goes. Counted before a byte is read, so that nobody sends 200 MB in vain. */
async function beginUpload(tx: Transaction, { id, file }: Upload): Promise<void> {
  // Uploads of one dealer begin one after the other, so that none of them waits for a row of another.
  await lockCount(tx, zipsInUse(file).name);
  await removeZips(tx, file);
  const taken = await tx.query(sql`
    update stock_files f set zip_upload_id = ${id}, zip_upload_at = clock_timestamp(), zip_name = null, zip_bytes = null
    where f.id = ${file.id} and ${hasNoJob(file.organizationId, ['import'])} returning id`);
  if (taken.length === 0) {
    throw new DomainError('wrong_status', 'An import of this file waits or runs. Upload the file again.', 'zip');
  }
  await tx.query(sql`delete from stock_file_pieces where file_id = ${file.id}`);
  await assertBelowLimit(tx, zipsInUse(file));
}

/** Leaves nothing of an upload that failed, unless another one has taken its place. */
async function endUpload(tx: Transaction, { id, file }: Upload): Promise<void> {
  const ended = await tx.query(sql`
    update stock_files set zip_upload_id = null, zip_upload_at = null
    where id = ${file.id} and zip_upload_id = ${id} returning id`);
  if (ended.length > 0) await tx.query(sql`delete from stock_file_pieces where file_id = ${file.id}`);
}

async function storePieces(db: Queryable, upload: Upload, chunks: AsyncIterable<Buffer>): Promise<number> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let stored = 0;
  let number = 0;
  async function storePiece(piece: Buffer): Promise<void> {
    const stays = await db.query(sql`
      with held as (
        update stock_files set zip_upload_at = clock_timestamp()
        where id = ${upload.file.id} and zip_upload_id = ${upload.id} returning id, organization_id)
      insert into stock_file_pieces (file_id, organization_id, number, bytes)
      select id, organization_id, ${number}::integer, ${piece}::bytea from held
      returning number`);
    if (stays.length === 0) throw replaced();
    number += 1;
    stored += piece.length;
  }
  for await (const chunk of chunks) {
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (stored + pendingBytes > ZIP_LIMIT_BYTES) throw new DomainError('invalid_input', ZIP_TOO_LARGE, 'zip');
    if (pendingBytes < ZIP_PIECE_BYTES) continue;
    const all = Buffer.concat(pending);
    let at = 0;
    for (; all.length - at >= ZIP_PIECE_BYTES; at += ZIP_PIECE_BYTES)
      await storePiece(all.subarray(at, at + ZIP_PIECE_BYTES));
    pending = [all.subarray(at)];
    pendingBytes = all.length - at;
  }
  if (pendingBytes > 0) await storePiece(Buffer.concat(pending));
  return stored;
}

function zipsInUse({ id, organizationId }: ImportFile): RowLimit {
  return {
    name: `zips ${organizationId}`,
    rows: sql`
      select from stock_files
      where organization_id = ${organizationId} and (zip_bytes is not null or zip_upload_id is not null) and id <> ${id}`,
    limit: ZIPS_IN_USE_LIMIT,
    message: `${ZIPS_IN_USE_LIMIT} imports with a zip wait or run already. Wait until one has ended.`,
    field: 'zip',
  };
}

/** Those of imports that wait or run stay, and so do those that are arriving. */
async function removeZips(tx: Transaction, { organizationId }: ImportFile): Promise<void> {
  const rows = await tx.query<{ id: string }>(sql`
    update stock_files f set zip_name = null, zip_bytes = null, zip_upload_id = null, zip_upload_at = null
    where f.organization_id = ${organizationId} and ${hasNoJob(organizationId, ['import', 'import_check'])}
      and (f.zip_bytes is not null
        or f.zip_upload_at < clock_timestamp() - make_interval(mins => ${ABANDONED_AFTER_MINUTES}))
    returning f.id`);
  const ids = rows.map((row) => row.id);
  await tx.query(sql`delete from stock_file_pieces where file_id = any(${ids}::text[])`);
}

/** Whether no job of these kinds on the file `f` waits or runs. */
function hasNoJob(organizationId: string, kinds: string[]): Sql {
  return sql`not exists (
    select from stock_jobs j where j.organization_id = ${organizationId} and j.status in ('queued', 'running')
      and j.kind = any(${kinds}::text[]) and j.parameters ->> 'fileId' = f.id)`;
}

function replaced(): DomainError {
  return new DomainError(
    'changed_meanwhile',
    'Another zip was uploaded for this file meanwhile, or the file was removed.',
    'zip',
  );
}
