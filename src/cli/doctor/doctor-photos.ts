import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../config.ts';
import type { Queryable } from '../../db/database.ts';
import { brokenLinkProblem } from '../../db/embedded/data-folder.ts';
import { StartError } from '../../db/start-error.ts';
import { newId } from '../../ids/new-id.ts';
import type { PhotoFiles } from '../../inventory/photos/storage/photo-files.ts';
import { ownerOfStorage } from '../../inventory/photos/storage/photo-storage-owner.ts';
import { isPrivateStorage, openPhotoFiles, photoFolderPath, STORAGE_WARNINGS } from '../../service/photo-storage.ts';
import { type Check, ok, warning, wrong } from './check.ts';

const NAME = 'photos';

/** Writes a file to the storage of photos, reads it and removes it. Does not create a missing folder. */
export async function checkPhotos(config: Config): Promise<Check> {
  const folder = resolve(photoFolderPath(config));
  const location = config.photoBucket === null ? folder : `the bucket ${config.photoBucket.bucket}`;
  const mend =
    config.photoBucket === null
      ? "give the folder to the service's user, or set DATA_DIR to another"
      : 'check PHOTO_S3_…, and that the key may list, read, write and delete';
  const problem = config.photoBucket === null ? brokenLinkProblem(folder) : null;
  if (problem !== null) return wrong(NAME, problem, 'bring back what it points to, or correct the link');
  if (config.photoBucket === null && !existsSync(folder)) return checkFolderToBe(folder, mend);
  try {
    await tryOut(await openPhotoFiles(config));
    return ok(NAME, `can be written and read in ${location}`);
  } catch (error) {
    const reason = (error as Error).message.replaceAll('\n', ' ');
    const isFull = reason.includes('ENOSPC');
    return wrong(
      NAME,
      error instanceof StartError ? reason : `cannot be kept in ${location}: ${reason}`,
      isFull ? 'free some space on its disk' : mend,
    );
  }
}

/** Whose storage it is: files are removed only from one that is marked as this database's. */
export async function checkPhotoOwner(config: Config, db: Queryable): Promise<Check[]> {
  const name = 'photo storage';
  if (config.photoBucket === null && !existsSync(photoFolderPath(config))) {
    return [ok(name, 'none yet; the first start marks it as this installation’s')];
  }
  try {
    const files = await openPhotoFiles(config);
    const owner = await ownerOfStorage(db, files);
    if (owner === 'ours') return [ok(name, 'marked as this installation’s')];
    if (owner === 'unmarked' && isPrivateStorage(config)) return [ok(name, 'the next start marks it')];
    const [message = '', mend = ''] = STORAGE_WARNINGS[owner].split('; ');
    return [owner === 'foreign' ? wrong(name, message, mend) : warning(name, message, mend)];
  } catch {
    // The check of photos itself reports a storage that can't be used.
    return [];
  }
}

function checkFolderToBe(folder: string, mend: string): Check {
  const nearest = nearestExisting(folder);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    return ok(NAME, `the first start creates ${folder}`);
  } catch {
    return wrong(NAME, `${folder} cannot be created: this user cannot write to ${nearest}`, mend);
  }
}

export function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

async function tryOut(files: PhotoFiles): Promise<void> {
  const id = newId('photo');
  const written = Buffer.from(`the doctor wrote this as ${id}`);
  try {
    await files.write(id, 'original.png', written);
    const read = await files.read(id, 'original.png');
    if (read === null || !read.equals(written)) throw new Error('what was written is not what is read');
  } finally {
    await files.remove([id]);
  }
}
