import { IMPORT_ZIP_LIMIT_MB, ZIPS_IN_USE_LIMIT } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { BYTES_PER_MB } from '../../contract/limits.ts';
import type { Database, Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { assertBelowLimit, type RowLimit } from '../../dealers/row-limit.ts';
import { findImportFile, type ImportFile } from './import-files.ts';
import { assertPhotoZip, ZIP_PIECE_BYTES } from './photo-zip.ts';

export const ZIP_LIMIT_BYTES = IMPORT_ZIP_LIMIT_MB * BYTES_PER_MB;
export const ZIP_TOO_LARGE = `A zip with photos may have at most ${IMPORT_ZIP_LIMIT_MB} MB. Split it into several.`;

/**
 * Stores the zip with photos beside an import's file, as it comes: no more than a piece is in memory. Returns how many photos
 * are in it. A dealer has one zip at a time; an older one goes.
 */
export async function storeZip(
  db: Database,
  organizationId: string,
  fileId: string,
  name: string,
  chunks: AsyncIterable<Buffer>,
): Promise<number> {
  const file = await findImportFile(db, organizationId, fileId);
  await removeZips(db, organizationId);
  // The limit is checked now, so that nobody sends 200 MB in vain, and again when the zip has arrived.
  await db.transaction(async (tx) => await assertBelowLimit(tx, zipsInUse(file)));
  const bytes = await storePieces(db, file, chunks);
  try {
    const photos = await assertPhotoZip(db, { ...file, zipBytes: bytes });
    await db.transaction(async (tx) => {
      await assertBelowLimit(tx, zipsInUse(file));
      await tx.query(sql`update stock_files set zip_name = ${name}, zip_bytes = ${bytes} where id = ${file.id}`);
    });
    return photos;
  } catch (error) {
    await db.query(sql`delete from stock_file_pieces where file_id = ${file.id}`);
    throw error;
  }
}

async function storePieces(db: Queryable, file: ImportFile, chunks: AsyncIterable<Buffer>): Promise<number> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let stored = 0;
  let number = 0;
  async function storePiece(piece: Buffer): Promise<void> {
    await db.query(sql`
      insert into stock_file_pieces (file_id, organization_id, number, bytes)
      values (${file.id}, ${file.organizationId}, ${number}, ${piece})
      on conflict (file_id, number) do update set bytes = excluded.bytes`);
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
      where organization_id = ${organizationId} and zip_bytes is not null and id <> ${id}`,
    limit: ZIPS_IN_USE_LIMIT,
    message: `${ZIPS_IN_USE_LIMIT} imports with a zip wait or run already. Wait until one has ended.`,
    field: 'zip',
  };
}

/** Keeps the zips of imports that wait or run. */
async function removeZips(db: Queryable, organizationId: string): Promise<void> {
  const rows = await db.query<{ id: string }>(sql`
    update stock_files f set zip_name = null, zip_bytes = null
    where f.organization_id = ${organizationId} and not exists (
      select from stock_jobs j where j.organization_id = ${organizationId} and j.status in ('queued', 'running')
        and j.parameters ->> 'fileId' = f.id)
    returning f.id`);
  const ids = rows.map((row) => row.id);
  await db.query(sql`delete from stock_file_pieces where file_id = any(${ids}::text[])`);
}
