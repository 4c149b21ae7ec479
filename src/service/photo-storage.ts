import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Queryable } from '../db/database.ts';
import { StartError } from '../db/start-error.ts';
import { limitedFiles } from '../inventory/photos/storage/limited-files.ts';
import { photoBucket } from '../inventory/photos/storage/photo-bucket.ts';
import type { PhotoFiles } from '../inventory/photos/storage/photo-files.ts';
import { photoFolder } from '../inventory/photos/storage/photo-folder.ts';
import { claimStorage, type StorageOwner } from '../inventory/photos/storage/photo-storage-owner.ts';

/** Opens the storage of photos that the settings name, and checks that it takes photos. */
export async function openPhotoFiles(config: Config): Promise<PhotoFiles> {
  const { photoBucket: bucket } = config;
  const folder = photoFolderPath(config);
  const files = limitedFiles(bucket === null ? photoFolder(folder) : await photoBucket(bucket));
  try {
    await files.check();
  } catch (error) {
    const reason = (error as Error).message.replaceAll('\n', ' ');
    throw new StartError(
      bucket === null
        ? `photos cannot be kept in ${folder}: ${reason}`
        : `photos cannot be kept in the bucket ${bucket.bucket}: ${reason}; check PHOTO_S3_…`,
    );
  }
  return files;
}

/**
 * Marks a storage that has no owner yet, and warns about one of another database. The service still uses that one: it
 * serves and adds photos, and never removes any.
 */
export async function claimPhotoStorage(
  config: Config,
  db: Queryable,
  files: PhotoFiles,
  onWarning: (message: string, error?: unknown) => void,
): Promise<void> {
  try {
    const owner = await claimStorage(db, files, { isPrivate: isPrivateStorage(config) });
    if (owner !== 'ours') onWarning(STORAGE_WARNINGS[owner]);
  } catch (error) {
    onWarning('the storage of photos could not be marked', error);
  }
}

export const STORAGE_WARNINGS: Record<Exclude<StorageOwner, 'ours'>, string> = {
  unmarked:
    'the storage of photos does not say whose it is, so files are never removed from it; if no other installation uses it, run "crownwheel photos claim"',
  foreign:
    'the storage of photos belongs to another installation, so files are never removed from it; use another one, or run "crownwheel photos claim" if the other installation is gone',
};

/** The folder beside the embedded database, which no other database can use. */
export function isPrivateStorage({ databaseUrl, photoBucket: bucket }: Config): boolean {
  return databaseUrl === null && bucket === null;
}

/** Where photos lie without a bucket. */
export function photoFolderPath({ dataDir }: Config): string {
  return join(dataDir, 'photos');
}
