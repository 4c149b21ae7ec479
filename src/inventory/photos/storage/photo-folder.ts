import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { giveToFolderOwner } from '../../../db/embedded/data-folder.ts';
import { FILE_BYTES_MAX, folderOf, MARKER_NAME, type PhotoFiles } from './photo-files.ts';

/** Whatever the umask is, nobody else can replace a photo. */
const FOLDER_MODE = 0o755;

/**
 * Photos in a folder of this machine, or of a network disk that all nodes share. A file is written aside, brought to
 * the disk and then moved into place: whoever finds it finds all of it, also after a power failure.
 */
export function photoFolder(path: string): PhotoFiles {
  const root = resolve(path);
  const pathOf = (photoId: string, name = '') => join(root, folderOf(photoId), name);

  return {
    async write(photoId, name, bytes) {
      const folder = pathOf(photoId);
      const aside = join(folder, `.${name}-${randomBytes(6).toString('hex')}`);
      await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      for (const made of [root, join(folder, '..'), folder]) giveToFolderOwner(join(root, '..'), made);
      try {
        await writeWhole(aside, bytes);
        giveToFolderOwner(folder, aside);
        await rename(aside, join(folder, name));
      } catch (error) {
        await rm(aside, { force: true }).catch(() => {});
        throw error;
      }
    },
    async read(photoId, name) {
      const found = await stat(pathOf(photoId, name)).catch(nullIfMissing);
      if (found === null) return null;
      if (found.size > FILE_BYTES_MAX) throw new Error(`${photoId}/${name} has ${found.size} bytes`);
      return await readFile(pathOf(photoId, name)).catch(nullIfMissing);
    },
    async open(photoId, name) {
      const file = await open(pathOf(photoId, name)).catch(nullIfMissing);
      if (file === null) return null;
      const { size } = await file.stat();
      return { stream: file.createReadStream(), size };
    },
    async stat(photoId, name) {
      const found = await stat(pathOf(photoId, name)).catch(nullIfMissing);
      return found === null ? null : { size: found.size };
    },
    async remove(photoIds) {
      for (const id of photoIds) await rm(pathOf(id), { recursive: true, force: true });
    },
    async *list() {
      for (const shard of (await readdir(root).catch(nullIfMissing)) ?? []) {
        yield (await readdir(join(root, shard)).catch(nullIfMissing)) ?? [];
      }
    },
    async check() {
      await mkdir(root, { recursive: true, mode: FOLDER_MODE });
      giveToFolderOwner(join(root, '..'), root);
      const probe = join(root, `.probe-${randomBytes(6).toString('hex')}`);
      await writeWhole(probe, Buffer.from('probe'));
      await rm(probe);
    },
    async readMarker() {
      return await readFile(join(root, MARKER_NAME), 'utf8').catch(nullIfMissing);
    },
    async writeMarker(text, mode) {
      await mkdir(root, { recursive: true });
      giveToFolderOwner(join(root, '..'), root);
      const path = join(root, MARKER_NAME);
      const aside = `${path}-${randomBytes(6).toString('hex')}`;
      try {
        // Making a file that is not there is left to the disk: of two that try, one succeeds.
        await writeWhole(mode === 'new' ? path : aside, Buffer.from(text));
      } catch (error) {
        if (mode === 'new' && (error as NodeJS.ErrnoException).code === 'EEXIST') return false;
        throw error;
      }
      if (mode === 'replace') await rename(aside, path);
      giveToFolderOwner(root, path);
      return true;
    },
  };
}

async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  // A file where a folder should be is as good as nothing there.
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
