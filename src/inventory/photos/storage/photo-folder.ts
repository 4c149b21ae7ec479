import { randomBytes } from 'node:crypto';
import { chown, type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readingDisk, writingDisk } from './disk-threads.ts';
import { fileStream } from './file-stream.ts';
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
    write: (photoId, name, bytes, signal) => writingDisk(() => write(photoId, name, bytes), signal),
    read: (photoId, name, signal) => readingDisk(() => read(pathOf(photoId, name), signal), signal),
    async open(photoId, name, signal) {
      const opened = await readingDisk(() => openFile(pathOf(photoId, name)), signal);
      return opened && { stream: fileStream(opened.file), size: opened.size };
    },
    async stat(photoId, name, signal) {
      const found = await readingDisk(() => stat(pathOf(photoId, name)).catch(nullIfMissing), signal);
      return found && { size: found.size };
    },
    async remove(photoIds, signal) {
      for (const id of photoIds) await writingDisk(() => rm(pathOf(id), { recursive: true, force: true }), signal);
    },
    async *list(signal) {
      const namesIn = (folder: string) => readingDisk(() => readdir(folder).catch(nullIfMissing), signal);
      for (const shard of (await namesIn(root)) ?? []) yield (await namesIn(join(root, shard))) ?? [];
    },
    check: (signal) => writingDisk(check, signal),
    readMarker: (signal) => readingDisk(() => readFile(join(root, MARKER_NAME), 'utf8').catch(nullIfMissing), signal),
    writeMarker: (text, mode, signal) => writingDisk(() => writeMarker(text, mode), signal),
  };

  async function write(photoId: string, name: string, bytes: Buffer): Promise<void> {
    const folder = pathOf(photoId);
    const aside = join(folder, `.${name}-${randomBytes(6).toString('hex')}`);
    await makeFolders(folder);
    for (const made of [root, join(folder, '..'), folder]) await giveToOwner(join(root, '..'), made);
    try {
      await writeWhole(aside, bytes);
      await giveToOwner(folder, aside);
      await rename(aside, join(folder, name));
    } catch (error) {
      await rm(aside, { force: true }).catch(() => {});
      throw error;
    }
  }

  async function check(): Promise<void> {
    await makeFolders(root);
    await giveToOwner(join(root, '..'), root);
    const probe = join(root, `.probe-${randomBytes(6).toString('hex')}`);
    await writeWhole(probe, Buffer.from('probe'));
    await rm(probe);
  }

  async function writeMarker(text: string, mode: 'new' | 'replace'): Promise<boolean> {
    await makeFolders(root);
    await giveToOwner(join(root, '..'), root);
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
    await giveToOwner(root, path);
    return true;
  }
}

async function read(path: string, signal?: AbortSignal): Promise<Buffer | null> {
  const found = await stat(path).catch(nullIfMissing);
  if (found === null) return null;
  if (found.size > FILE_BYTES_MAX) throw new Error(`${path} has ${found.size} bytes`);
  return await readFile(path, { signal }).catch(nullIfMissing);
}

async function openFile(path: string): Promise<{ file: FileHandle; size: number } | null> {
  const file = await open(path).catch(nullIfMissing);
  if (file === null) return null;
  try {
    return { file, size: (await file.stat()).size };
  } catch (error) {
    await file.close().catch(() => {});
    throw error;
  }
}

/** As in `data-folder.ts`: Node's own "recursive" tries for ever where no folder can be made, as in /proc. */
async function makeFolders(path: string): Promise<void> {
  try {
    await makeFolder(path);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    await makeFolders(parent);
    await makeFolder(path);
  }
}

/** Somebody else may make it at the same moment. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!(await stat(path)).isDirectory()) throw error;
  }
}

/** As `giveToFolderOwner`, but nobody waits in the event loop for this disk. */
async function giveToOwner(folder: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  if (uid !== 0) await chown(path, uid, gid);
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
