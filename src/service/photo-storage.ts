import { join } from 'node:path';
import type { Config } from '../config.ts';
import { StartError } from '../db/start-error.ts';
import { photoBucket } from '../inventory/photos/photo-bucket.ts';
import type { PhotoFiles } from '../inventory/photos/photo-files.ts';
import { photoFolder } from '../inventory/photos/photo-folder.ts';

/** From settings to a place that really takes photos. */
export async function openPhotoFiles(config: Config): Promise<PhotoFiles> {
  const { photoBucket: bucket } = config;
  const folder = photoFolderPath(config);
  const files = bucket === null ? photoFolder(folder) : await photoBucket(bucket);
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

/** Where photos lie without a bucket. */
export function photoFolderPath({ dataDir }: Config): string {
  return join(dataDir, 'photos');
}
