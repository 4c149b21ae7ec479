import { chownSync, lstatSync, mkdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StartError } from '../start-error.ts';

/** The absolute path of DATA_DIR, which is made if it is missing. */
export function makeDataFolder(dataDir: string): string {
  const root = resolve(dataDir);
  try {
    makeFolders(root, 0o700);
    if (statSync(root).isDirectory()) return root;
  } catch (error) {
    const reason = brokenLinkProblem(root) ?? reasonOf(error as NodeJS.ErrnoException);
    throw new StartError(`DATA_DIR ${dataDir} cannot be made or entered: ${reason}`);
  }
  throw new StartError(`DATA_DIR ${dataDir} is not a folder`);
}

/** One folder after the other: where none can be made, as in /proc, Node's own "recursive" tries for ever. */
function makeFolders(path: string, mode?: number): void {
  if (isThere(path)) return;
  makeFolders(dirname(path));
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process made it at this moment.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** What is wrong if a path leads through a link to something that does not exist; null if it does not. */
export function brokenLinkProblem(path: string): string | null {
  const parent = dirname(path);
  const above = parent === path ? null : brokenLinkProblem(parent);
  if (above !== null || !isBrokenLink(path)) return above;
  return `${path} is a link to ${readlinkSync(path)}, which does not exist`;
}

function isBrokenLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink() && statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** True of a broken link, too: no folder can be made in its place. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
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
  if (error.code === 'ENOENT') return 'no folder can be made there';
  return error.message;
}
