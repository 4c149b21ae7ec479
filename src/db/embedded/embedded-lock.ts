import { chmodSync, closeSync, lstatSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../start-error.ts';
import { isForeign, ownershipFix, ownershipProblem } from './data-ownership.ts';
import { isAlive } from './embedded-server.ts';

/**
 * One process at a time owns a data folder. The lock is the kernel's own on a file, taken through SQLite because Node
 * offers none itself: it ends with its process, however that dies, so it never goes stale. A note beside it names the
 * owner, for the error message of another process.
 */
export type FolderLock = { release(): void };

export type FolderUser = 'service' | 'command';

export type LockOptions = {
  /** The path as the operator wrote it. */
  dataDir: string;
  lockFile: string;
  ownerFile: string;
  as: FolderUser;
  onProgress: (message: string) => void;
  /** Called with each file that was made. */
  giveToFolderOwner: (path: string) => void;
};

type Owner = { pid: number; as: FolderUser };

/** A service that is stopping releases the lock within moments; if it is held longer, a second service runs. */
const SERVICE_WAIT_MS = 2_000;
/** A command ends soon, so a start waits for it. */
const COMMAND_WAIT_MS = 30_000;
const QUIET_WAIT_MS = 1_000;
const POLL_MS = 25;
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** The lock, or null if a service holds it and a command may therefore use that service's server. */
export async function lockFolder(options: LockOptions): Promise<FolderLock | null> {
  const beganAt = Date.now();
  let hasToldWait = false;
  for (;;) {
    const lock = tryLock(options);
    if (lock !== null) return lock;
    const owner = readOwner(options.ownerFile);
    const waitedMs = Date.now() - beganAt;
    if (owner?.as === 'service' && options.as === 'command') return null;
    if (waitedMs > (owner?.as === 'service' ? SERVICE_WAIT_MS : COMMAND_WAIT_MS)) throw inUse(options.dataDir, owner);
    if (owner?.as !== 'service' && waitedMs > QUIET_WAIT_MS && !hasToldWait) {
      hasToldWait = true;
      options.onProgress(`Waiting for another process that has DATA_DIR ${options.dataDir}${pidOf(owner)} …`);
    }
    await sleep(POLL_MS);
  }
}

function tryLock(options: LockOptions): FolderLock | null {
  let file: DatabaseSync | undefined;
  try {
    closeToOthers(options.lockFile);
    file = new DatabaseSync(options.lockFile);
    file.exec('pragma journal_mode = off');
    file.exec('begin exclusive');
  } catch (error) {
    file?.close();
    // Another process made the file at this moment.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null;
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null;
    throw cannotBeWritten(error, options);
  }
  const held = file;
  const owner: Owner = { pid: process.pid, as: options.as };
  try {
    writeFileSync(options.ownerFile, `${JSON.stringify(owner)}\n`, { mode: OWNER_ONLY });
  } catch (error) {
    held.close();
    throw cannotBeWritten(error, options);
  }
  options.giveToFolderOwner(options.lockFile);
  options.giveToFolderOwner(options.ownerFile);
  return {
    release() {
      rmSync(options.ownerFile, { force: true });
      held.close();
    },
  };
}

/** Most often somebody else owns it, as after a backup that root has restored. */
function cannotBeWritten(error: unknown, { dataDir, lockFile }: LockOptions): StartError {
  const { code, errcode, message } = error as NodeJS.ErrnoException & { errcode?: number };
  if (code === 'ENOSPC' || errcode === SQLITE_FULL) {
    return new StartError(`the disk of DATA_DIR ${dataDir} is full; free some space, then start again`);
  }
  const root = dirname(lockFile);
  const foreign = [lockFile, root].find(isForeign);
  const reason =
    foreign === undefined ? `${message} (${lockFile})` : `${ownershipProblem(foreign)}; ${ownershipFix(root)}`;
  return new StartError(`DATA_DIR ${dataDir} cannot be written by this user: ${reason}`);
}

/**
 * Anybody who can open the file can hold a lock on it. An earlier release left it readable; SQLite would make it so.
 */
function closeToOthers(lockFile: string): void {
  const entry = lstatSync(lockFile, { throwIfNoEntry: false });
  // Only a new file is opened here: closing any other would end the locks that this process has on it.
  if (entry === undefined) closeSync(openSync(lockFile, 'wx', OWNER_ONLY));
  else if (!entry.isFile()) throw new Error('it is not a file');
  else if ((entry.mode & OTHERS) !== 0) chmodSync(lockFile, OWNER_ONLY);
}

/** Null when the note is missing or was left by a process that is no more: the true owner is about to write its own. */
function readOwner(ownerFile: string): Owner | null {
  try {
    const owner = JSON.parse(readFileSync(ownerFile, 'utf8')) as Owner;
    return isAlive(owner.pid) ? owner : null;
  } catch {
    return null;
  }
}

function inUse(dataDir: string, owner: Owner | null): StartError {
  return new StartError(
    `DATA_DIR ${dataDir} is in use by another Crownwheel ${owner?.as ?? 'process'}${pidOf(owner)}; stop it, or choose another DATA_DIR`,
  );
}

function pidOf(owner: Owner | null): string {
  return owner === null ? '' : ` (pid ${owner.pid})`;
}
