import { type RepeatedTask, startRepeating } from '../../concurrency/repeat.ts';
import { idTimeMs, isId } from '../../contract/ids.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { PhotoFiles } from './photo-files.ts';

/** A younger photo may belong to an upload that is not committed yet. Its id says when it was made. */
const AGE_MIN_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 24 * 60 * 60 * 1000;
/** Starting has more urgent things to do. */
const FIRST_AFTER_MS = 60_000;

/** A storage in which so many files, and most of them, are unknown is likely another installation's. */
const STRANGERS_MAX = 1_000;

/**
 * Takes away files that no photo names: of uploads that were rolled back or cut short, and of photos whose files could
 * not be removed when they were deleted. Returns how many photos' files went.
 */
export async function sweepPhotos(db: Queryable, files: PhotoFiles, nowMs = Date.now()): Promise<number> {
  const orphans: string[] = [];
  let found = 0;
  for await (const names of files.list()) {
    const ids = names.filter((name) => isId('photo', name) && nowMs - idTimeMs(name) > AGE_MIN_MS);
    if (ids.length === 0) continue;
    const rows = await db.query<{ id: string }>(sql`select id from photos where id = any(${ids}::text[])`);
    const known = new Set(rows.map((row) => row.id));
    orphans.push(...ids.filter((id) => !known.has(id)));
    found += ids.length;
  }
  if (orphans.length > STRANGERS_MAX && orphans.length > found / 2) {
    throw new Error(
      `${orphans.length} of ${found} photos in the storage are unknown to this database; none was removed`,
    );
  }
  await files.remove(orphans);
  return orphans.length;
}

/** Sweeps soon after the start and then once a day. Any number of nodes may do it. */
export function startPhotoSweep(db: Queryable, files: PhotoFiles, onFault: (error: unknown) => void): RepeatedTask {
  return startRepeating(() => sweepPhotos(db, files), { everyMs: EVERY_MS, firstAfterMs: FIRST_AFTER_MS, onFault });
}
