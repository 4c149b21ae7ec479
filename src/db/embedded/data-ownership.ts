import { chmodSync, chownSync, lchownSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartError } from '../start-error.ts';

export type Account = { uid: number; gid: number };

const OWNER_ONLY_FOLDER = 0o700;
const OTHERS = 0o077;
/** Everything that the service keeps in a data folder. `lost+found` is in the root of a disk that is mounted there. */
const OWN_NAMES =
  /^(postgres|postgres\.new|postgres\.log(\.1)?|lock|owner\.json|run|secret-keys(\.new-\d+)?|demo\.json(\.new)?|photos|lost\+found)$/;

/**
 * Closes the data folder to other users (0700): anybody who can open the lock file in it could keep the service from
 * starting. Earlier releases left it open, so this is done at every start. A folder that holds other things too is left
 * as it is: closing /tmp or a home would harm more than it helps, and what lies there of ours is closed by itself.
 */
export function closeDataFolder(root: string, account: Account | null): void {
  const { uid, mode } = statSync(root);
  const isRoot = process.getuid?.() === 0;
  const owner = account?.uid ?? process.getuid?.();
  if (!(uid === owner || (isRoot && uid === 0)) || !holdsOnlyOurs(root)) return;
  // PostgreSQL does not run as root, and its user has to pass through the folder.
  if (isRoot && account !== null && uid === 0) chownSync(root, account.uid, account.gid);
  if ((mode & OTHERS) !== 0) chmodSync(root, OWNER_ONLY_FOLDER);
}

/**
 * Makes the server's user the owner of everything that a backup restored by root ("cp -r") left with root. Only root
 * can repair that; for others the error says what to do.
 */
export function repairOwnership(root: string, account: Account | null): void {
  const cluster = join(root, 'postgres');
  if (process.getuid?.() !== 0 || account === null) {
    const foreign = foreignEntry(root);
    if (foreign !== null) throw new StartError(`${ownershipProblem(foreign)}; ${ownershipFix(root)}`);
  } else {
    for (const path of entriesUnder(cluster)) {
      if (lstatSync(path).uid !== account.uid) lchownSync(path, account.uid, account.gid);
    }
    giveRest(root);
  }
  const { mode } = statSync(cluster);
  if ((mode & OTHERS) !== 0) chmodSync(cluster, OWNER_ONLY_FOLDER);
}

/** The first file of the database that is not this user's own, or null. Root may use any. */
export function foreignEntry(root: string): string | null {
  for (const path of entriesUnder(join(root, 'postgres'))) if (isForeign(path)) return path;
  return null;
}

/** True of what is another user's. */
export function isForeign(path: string): boolean {
  const uid = process.getuid?.();
  if (uid === undefined || uid === 0) return false;
  try {
    return lstatSync(path).uid !== uid;
  } catch {
    return false;
  }
}

export function ownershipProblem(path: string): string {
  return `${path} belongs to ${userName(lstatSync(path).uid)}, not to ${userName(process.getuid?.() ?? 0)}, who runs the service`;
}

export function ownershipFix(root: string): string {
  return `run "chown -R ${userName(process.getuid?.() ?? 0)} ${root}" as root`;
}

/** Why this user can't look at a path: the folder on the way to it that is closed, and whose it is. */
export function closedProblem(path: string): string {
  let folder = dirname(path);
  while (ownerOf(folder) === null && dirname(folder) !== folder) folder = dirname(folder);
  const owner = userName(ownerOf(folder) ?? 0);
  return `permission denied: ${folder} belongs to ${owner} and is closed to ${userName(process.getuid?.() ?? 0)}; run this as ${owner}`;
}

function ownerOf(path: string): number | null {
  try {
    return lstatSync(path).uid;
  } catch {
    return null;
  }
}

/** Beside the database: keys, demo data and photos that root copied go to the folder's owner, too. */
function giveRest(root: string): void {
  const { uid, gid } = statSync(root);
  if (uid === 0) return;
  for (const name of readdirSync(root)) {
    const path = join(root, name);
    if (!OWN_NAMES.test(name) || name === 'lost+found' || lstatSync(path).uid !== 0) continue;
    for (const entry of entriesUnder(path)) lchownSync(entry, uid, gid);
  }
}

function holdsOnlyOurs(root: string): boolean {
  return readdirSync(root).every((name) => OWN_NAMES.test(name));
}

/** A path and everything below it; links are named, never followed. */
function* entriesUnder(path: string): Generator<string> {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return;
  yield path;
  if (!entry.isDirectory()) return;
  for (const name of namesIn(path)) yield* entriesUnder(join(path, name));
}

/** If we may not read a folder, the error names the folder itself. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function userName(uid: number): string {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((each) => each.split(':')[2] === String(uid));
    return line?.split(':')[0] ?? `user ${uid}`;
  } catch {
    return `user ${uid}`;
  }
}
