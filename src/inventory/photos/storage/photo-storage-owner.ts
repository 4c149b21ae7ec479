import { isId } from '../../../contract/ids.ts';
import type { Queryable } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import type { PhotoFiles } from './photo-files.ts';

/**
 * Whose a storage of photos is. The first database that uses an empty storage marks it; from then on only that database
 * removes files from it. Without this, a test installation that was pointed at the bucket of the real one would take the
 * real one's photos for leftovers, and remove them.
 */
export type StorageOwner = 'ours' | 'unmarked' | 'foreign';

/** What the marker says; `database` distinguishes a copy that was restored elsewhere from the original. */
type Marker = { object: 'photo_storage'; installation_id: string; database: string };

export async function ownerOfStorage(db: Queryable, files: PhotoFiles): Promise<StorageOwner> {
  const text = await files.readMarker();
  if (text === null) return 'unmarked';
  const found = parseMarker(text);
  const own = await ownMarker(db);
  return found?.installation_id === own.installation_id && found.database === own.database ? 'ours' : 'foreign';
}

/**
 * Marks a storage that is nobody's yet, and says whose it is then. One without a marker that has photos already is from a
 * release before there were markers. It is adopted only if it is private: a folder beside the embedded database, which
 * no other database can use. Another may be shared, so an operator has to say whose it is, with `takeStorage`.
 */
export async function claimStorage(
  db: Queryable,
  files: PhotoFiles,
  { isPrivate }: { isPrivate: boolean },
): Promise<StorageOwner> {
  const owner = await ownerOfStorage(db, files);
  if (owner !== 'unmarked' || !(isPrivate || (await isEmpty(files)))) return owner;
  await files.writeMarker(await newMarkerText(db), 'new');
  // Somebody else may have been quicker.
  return await ownerOfStorage(db, files);
}

/** Makes a storage this database's, whatever it is marked as; on an operator's word. */
export async function takeStorage(db: Queryable, files: PhotoFiles): Promise<void> {
  await files.writeMarker(await newMarkerText(db), 'replace');
}

/** Removes the files of some photos, if the storage is this database's; false if it is not, and nothing was removed. */
export async function removePhotoFiles(
  db: Queryable,
  files: PhotoFiles,
  photoIds: readonly string[],
): Promise<boolean> {
  if ((await ownerOfStorage(db, files)) !== 'ours') return false;
  await files.remove(photoIds);
  return true;
}

/** How many photos have files in the storage, and how many of them this database does not know. */
export async function countStored(db: Queryable, files: PhotoFiles): Promise<{ photos: number; unknown: number }> {
  let photos = 0;
  let unknown = 0;
  for await (const names of files.list()) {
    const ids = names.filter((name) => isId('photo', name));
    photos += ids.length;
    unknown += (await unknownPhotos(db, ids)).length;
  }
  return { photos, unknown };
}

/** Those of the ids that no photo of this database has, nor one that can still be put back. */
export async function unknownPhotos(db: Queryable, photoIds: string[]): Promise<string[]> {
  if (photoIds.length === 0) return [];
  const rows = await db.query<{ id: string }>(sql`
    select id from photos where id = any(${photoIds}::text[])
    union all select id from removed_photos where id = any(${photoIds}::text[])`);
  const known = new Set(rows.map((row) => row.id));
  return photoIds.filter((id) => !known.has(id));
}

async function isEmpty(files: PhotoFiles): Promise<boolean> {
  for await (const names of files.list()) if (names.some((name) => isId('photo', name))) return false;
  return true;
}

async function newMarkerText(db: Queryable): Promise<string> {
  return `${JSON.stringify(await ownMarker(db), null, 2)}\n`;
}

/**
 * A dump that is restored elsewhere has the installation's id of the original, but lies in another database or on
 * another server. A copy of the server's files has all of it: give it a storage of its own.
 */
async function ownMarker(db: Queryable): Promise<Marker> {
  const [row] = await db.query<{ id: string; server: string; database: string }>(sql`
    select i.id::text as id, (select system_identifier::text from pg_control_system()) as server,
      (select oid::text from pg_database where datname = current_database()) as database
    from installation i`);
  if (row === undefined) throw new Error('the database has no installation id');
  return { object: 'photo_storage', installation_id: row.id, database: `${row.server}/${row.database}` };
}

function parseMarker(text: string): Partial<Marker> | null {
  try {
    return JSON.parse(text) as Partial<Marker>;
  } catch {
    return null;
  }
}
