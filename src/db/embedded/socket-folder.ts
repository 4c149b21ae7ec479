import { lstat, mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '../start-error.ts';
import type { Launcher } from './embedded-binaries.ts';
import { privateTo } from './embedded-binaries.ts';

/** A unix socket's path may have 107 bytes (103 on macOS); beyond this the socket moves to a shorter path. */
const SOCKET_DIR_LIMIT_BYTES = 80;
const PREFIX = 'crownwheel-';
/** What mkdtemp puts behind the prefix. */
const RANDOM_LENGTH = 6;
const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;

/** Where the server's socket lies if the data folder's path is short enough, which it nearly always is. */
export function socketDirIn(root: string): string {
  return join(root, 'run');
}

/**
 * Makes the folder of a server that is about to be started. A path that is too long for a socket is replaced by a folder
 * with a random name: anybody could make one with a name that can be guessed, and put a link there that we would follow.
 * Others find the socket by the server's pid file.
 */
export async function makeSocketDir(root: string, launcher: Launcher): Promise<string> {
  const inside = socketDirIn(root);
  if (Buffer.byteLength(inside) <= SOCKET_DIR_LIMIT_BYTES) {
    await privateTo(launcher, inside);
    return inside;
  }
  const made = await mkdtemp(join(await temporaryFolder(), PREFIX)).catch((error: Error) => {
    throw new StartError(`a folder for the database's socket cannot be made: ${error.message}`);
  });
  const entry = await lstat(made);
  if (!entry.isDirectory() || entry.uid !== process.getuid?.())
    throw new StartError(`${made} was replaced by another user`);
  await launcher.giveTo(made);
  return made;
}

/** The system's own, if others can't replace what we make there. */
async function temporaryFolder(): Promise<string> {
  const wanted = tmpdir();
  const length = Buffer.byteLength(join(wanted, PREFIX)) + RANDOM_LENGTH;
  const mode = await stat(wanted).then(
    (entry) => entry.mode,
    () => OTHERS_WRITE,
  );
  const isSafe = (mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0;
  return isSafe && length <= SOCKET_DIR_LIMIT_BYTES ? wanted : '/tmp';
}
