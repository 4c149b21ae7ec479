import { join } from 'node:path';
import type { Config } from '../config.ts';
import { StartError } from '../db/start-error.ts';
import { limitedFiles, type StorageLimits } from '../inventory/photos/storage/limited-files.ts';
import { photoBucket } from '../inventory/photos/storage/photo-bucket.ts';
import type { PhotoFiles } from '../inventory/photos/storage/photo-files.ts';
import { photoFolder } from '../inventory/photos/storage/photo-folder.ts';
import type { StorageOwner } from '../inventory/photos/storage/photo-storage-owner.ts';

/** Opens the storage of photos that the settings name, and checks that it takes photos. */
export async function openPhotoFiles(config: Config): Promise<PhotoFiles> {
  const files = await photoFilesOf(config);
  await checkPhotoFiles(config, files);
  return files;
}

/** The same without the check. */
export async function photoFilesOf(config: Config, limits: Partial<StorageLimits> = {}): Promise<PhotoFiles> {
  const { photoBucket: bucket } = config;
  return limitedFiles(bucket === null ? photoFolder(photoFolderPath(config)) : await photoBucket(bucket), limits);
}

export async function checkPhotoFiles(config: Config, files: PhotoFiles): Promise<void> {
  const { photoBucket: bucket } = config;
  try {
    await files.check();
  } catch (error) {
    const reason = (error as Error).message.replaceAll('\n', ' ');
    throw new StartError(
      bucket === null
        ? `photos cannot be kept in ${photoFolderPath(config)}: ${reason}`
        : `photos cannot be kept in the bucket ${bucket.bucket}: ${reason}; check PHOTO_S3_…`,
      { cause: error },
    );
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
