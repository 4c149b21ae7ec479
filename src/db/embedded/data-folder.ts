import { chownSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StartError } from '../start-error.ts';

/** The absolute path of DATA_DIR, which is made if it is missing. */
export function makeDataFolder(dataDir: string): string {
  const root = resolve(dataDir);
  try {
    mkdirSync(dirname(root), { recursive: true });
    mkdirSync(root, { recursive: true, mode: 0o700 });
    if (statSync(root).isDirectory()) return root;
  } catch (error) {
    throw new StartError(`DATA_DIR ${dataDir} cannot be made or entered: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
  throw new StartError(`DATA_DIR ${dataDir} is not a folder`);
}

/**
 * Gives what root made in a data folder to the folder's owner. An operator who runs a command as root beside a service
 * that runs as an ordinary user would otherwise leave files behind that the service can't read.
 */
export function giveToFolderOwner(root: string, path: string): void {
  if (process.getuid?.() !== 0) return;
  const owner = statSync(root);
  if (owner.uid !== 0) chownSync(path, owner.uid, owner.gid);
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'EEXIST' || error.code === 'ENOTDIR') return 'a part of the path is a file, not a folder';
  if (error.code === 'EACCES' || error.code === 'EPERM') return 'this user may not write there';
  if (error.code === 'EROFS') return 'the disk is read-only';
  if (error.code === 'ENAMETOOLONG') return 'the path is too long';
  return error.message;
}
