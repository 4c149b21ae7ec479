import { type RepeatedTask, startRepeating } from '../../concurrency/repeat.ts';
import { UNDO_LIMIT_DAYS } from '../../contract/dashboard/limits.ts';
import { idTimeMs, isId } from '../../contract/ids.ts';
import { DAY_MS } from '../../contract/timestamps.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { PhotoFiles } from './storage/photo-files.ts';
import { ownerOfStorage, removePhotoFiles, unknownPhotos } from './storage/photo-storage-owner.ts';

/** A younger photo may belong to an upload that is not committed yet. Its id says when it was made. */
const AGE_MIN_MS = DAY_MS;
/** As long as a removed photo can be put back. */
const REMOVED_KEPT_MS = UNDO_LIMIT_DAYS * DAY_MS;
const EVERY_MS = DAY_MS;
/** The first sweep waits, because a start has more urgent things to do. */
const FIRST_AFTER_MS = 60_000;

/**
 * Takes away files that no photo names: of uploads that were rolled back or cut short, of photos whose files could not be
 * removed when they were deleted, and of organizations that were deleted. Returns how many photos' files went. A storage
 * that is not marked as this database's is left as it is.
 */
export async function sweepPhotos(db: Queryable, files: PhotoFiles, nowMs = Date.now()): Promise<number> {
  const owner = await ownerOfStorage(db, files);
  if (owner !== 'ours') throw new Error(`no file was removed: the storage of photos is ${owner}; see "doctor"`);
  await forgetRemovedPhotos(db, nowMs);
  let removed = 0;
  for await (const names of files.list()) {
    const ids = names.filter((name) => isId('photo', name) && nowMs - idTimeMs(name) > AGE_MIN_MS);
    const orphans = await unknownPhotos(db, ids);
    // Looked at again for each page: a sweep of a large storage takes a while, and may lose it meanwhile.
    if (orphans.length === 0 || !(await removePhotoFiles(db, files, orphans))) continue;
    removed += orphans.length;
  }
  return removed;
}

/** From then on a photo that was taken away can't be put back, and the sweep takes its files. */
async function forgetRemovedPhotos(db: Queryable, nowMs: number): Promise<void> {
  await db.query(sql`delete from removed_photos where removed_at < ${new Date(nowMs - REMOVED_KEPT_MS)}`);
}

/** Sweeps soon after the start and then once a day. Any number of nodes may do it. */
export function startPhotoSweep(db: Queryable, files: PhotoFiles, onFault: (error: unknown) => void): RepeatedTask {
  return startRepeating(() => sweepPhotos(db, files), { everyMs: EVERY_MS, firstAfterMs: FIRST_AFTER_MS, onFault });
}
