import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, SECRET_KEY_MIN_LENGTH, secretKeysFile } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { brokenLinkProblem } from '../../db/embedded/data-folder.ts';
import { foreignEntry, ownershipFix, ownershipProblem } from '../../db/embedded/data-ownership.ts';
import { hasCluster } from '../../db/embedded/embedded.ts';
import { migrationState } from '../../db/migrate.ts';
import { sql } from '../../db/sql.ts';
import { StartError } from '../../db/start-error.ts';
import type { Connection } from '../../service/connect.ts';
import { connectionCount } from '../../service/pool-sizes.ts';
import { assertPortFree } from '../../service/startup/port.ts';
import type { Shell } from '../shell.ts';
import { type Check, ok, warning, wrong } from './check.ts';
import { checkDurability } from './doctor-durability.ts';
import { checkMail } from './doctor-mail.ts';
import { checkPhotoOwner, checkPhotos, nearestExisting } from './doctor-photos.ts';
import { checkPrices } from './doctor-prices.ts';
import { checkProxies } from './doctor-proxies.ts';
import { checkSigningSecrets, checkTargets } from './doctor-webhooks.ts';

export type DoctorTools = {
  readSettings: () => Config;
  withConnection: Shell['withConnection'];
};

const DISK_FREE_MIN_BYTES = 1_000_000_000;
/** Events are stamped by the database and signed by the node; receivers allow 300 s, people notice far less. */
const CLOCK_DIFFERENCE_MAX_MS = 2_000;
const OTHERS = 0o077;
const HEALTH_TIMEOUT_MS = 2_000;
/** PostgreSQL keeps a few connections for its administrators; migrations and commands need some too. */
const SPARE_CONNECTIONS = 5;

/** Checks everything that a start needs, in the order in which a start needs it. */
export async function runChecks({ readSettings, withConnection }: DoctorTools): Promise<Check[]> {
  let config: Config;
  try {
    config = readSettings();
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return error.message.split('\n').map((line) => wrong('settings', line, 'correct the environment variable'));
  }
  const isEmbedded = config.databaseUrl === null;
  const processes = config.processes === 1 ? '' : `; ${config.processes} processes`;
  const checks = [ok('settings', `all valid; roles ${config.roles.join(', ')}${processes}`)];
  if (isEmbedded) checks.push(checkDataFolder(config.dataDir));
  const found = isEmbedded ? await findCluster(config.dataDir) : 'there';
  checks.push(checkSecretKeys(config, found === 'none'));
  if (found === 'none') checks.push(ok('database', `embedded; the first start creates it in ${config.dataDir}`));
  else if (found === 'there') checks.push(...(await checkDatabase(config, withConnection)));
  else checks.push(found);
  checks.push(await checkPhotos(config), checkTargets(config), await checkMail(config));
  checks.push(checkProxies(config), await checkPort(config));
  return checks;
}

/** Whether there is a database, or why that can't be seen. */
async function findCluster(dataDir: string): Promise<'there' | 'none' | Check> {
  try {
    return (await hasCluster(dataDir)) ? 'there' : 'none';
  } catch (error) {
    return wrong('database', (error as Error).message, 'make it readable for this user, or correct DATA_DIR');
  }
}

function checkDataFolder(dataDir: string): Check {
  const name = 'data folder';
  const root = resolve(dataDir);
  const problem = brokenLinkIn(root);
  if (problem !== null) return wrong(name, problem, 'bring back what it points to, or correct the link');
  const nearest = nearestExisting(root);
  try {
    if (!statSync(nearest).isDirectory()) return wrong(name, `${nearest} is not a folder`, 'set DATA_DIR to a folder');
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch {
    return wrong(
      name,
      `${nearest} cannot be written by this user`,
      'change its owner, or set DATA_DIR to another folder',
    );
  }
  const foreign = nearest === root ? foreignEntry(root) : null;
  if (foreign !== null) return wrong(name, ownershipProblem(foreign), ownershipFix(root));
  const { bavail, bsize } = statfsSync(nearest);
  const freeBytes = bavail * bsize;
  const free = `${(freeBytes / 1e9).toFixed(1)} GB free`;
  if (freeBytes < DISK_FREE_MIN_BYTES) return wrong(name, `${root} has only ${free}`, 'free space on that disk');
  if (nearest === root && (statSync(root).mode & OTHERS) !== 0) {
    return warning(name, `other users can enter ${root}, ${free}`, 'give the service a folder of its own');
  }
  return ok(name, nearest === root ? `${root}, ${free}` : `the first start creates ${root}, ${free}`);
}

/** The folder itself, or what lies in it: to each question about it a broken link looks like something that is not there yet. */
function brokenLinkIn(root: string): string | null {
  const names = existsSync(root) && statSync(root).isDirectory() ? namesIn(root) : [];
  for (const path of [root, ...names.map((name) => join(root, name))]) {
    const problem = brokenLinkProblem(path);
    if (problem !== null) return problem;
  }
  return null;
}

/** The check of the folder says so if it can't be read. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function checkSecretKeys(config: Config, isFirstStart: boolean): Check {
  const name = 'secret keys';
  if (config.secretKeys.length > 0) return ok(name, `${config.secretKeys.length} in SECRET_KEYS`);
  const file = secretKeysFile(config);
  if (!existsSync(file)) {
    if (isFirstStart) return ok(name, 'none yet; the first start creates one');
    return wrong(name, `${file} is missing, though there is a database`, 'restore it from the backup');
  }
  try {
    const keys = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    if (keys.length === 0 || keys.some((key) => key.length < SECRET_KEY_MIN_LENGTH)) {
      return wrong(name, `${file} holds no key, or a short one`, 'restore it from the backup');
    }
    if ((statSync(file).mode & 0o077) !== 0) return wrong(name, `${file} can be read by others`, `chmod 600 ${file}`);
    return ok(name, `${keys.length} in ${file}; include it in the backup`);
  } catch (error) {
    return wrong(name, `${file} cannot be read: ${(error as Error).message}`, "run as the service's user");
  }
}

async function checkDatabase(config: Config, withConnection: DoctorTools['withConnection']): Promise<Check[]> {
  try {
    const look = async ({ db, embedded, config: { secretKeys } }: Connection) => {
      const server = await checkServer(db, config, embedded === null ? 'DATABASE_URL' : 'embedded');
      const migrations = await checkMigrations(db);
      // Only this release's schema is known to have them where they are looked for.
      const stored = migrations.isOk
        ? [await checkSigningSecrets(db, secretKeys), ...(await checkPhotoOwner(config, db)), await checkPrices(db)]
        : [];
      return [server, await checkDurability(db), migrations, ...stored, await checkClock(db)];
    };
    return await withConnection(look, { toleratesMissingKeys: true });
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const mend = config.databaseUrl === null ? 'see the log in DATA_DIR' : 'check DATABASE_URL, the server and its log';
    return [wrong('database', error.message, mend)];
  }
}

async function checkServer(db: Database, config: Config, kind: string): Promise<Check> {
  const [row] = await db.query<{ version: string; connections: number }>(sql`
    select current_setting('server_version') as version, current_setting('max_connections')::integer as connections`);
  const { version, connections } = row ?? { version: '?', connections: 0 };
  // The embedded server is given as many as the pool needs when the service starts it.
  const { databasePoolSize: size, processes } = config;
  if (config.databaseUrl !== null && connectionCount(config) + SPARE_CONNECTIONS > connections) {
    const each = processes === 1 ? '' : ` in each of ${processes + 1} processes`;
    return wrong(
      'database',
      `the server allows ${connections} connections, too few for DATABASE_POOL_SIZE ${size}${each}`,
      'lower DATABASE_POOL_SIZE, or raise max_connections',
    );
  }
  return ok('database', `${kind}, PostgreSQL ${version} answers`);
}

async function checkMigrations(db: Database): Promise<Check> {
  const { applied, pending, unknown, changed } = await migrationState(db);
  if (unknown.length > 0) {
    return wrong(
      'migrations',
      `${unknown.join(', ')} unknown to this release`,
      'run the release that made them, or newer',
    );
  }
  if (changed.length > 0) {
    return wrong('migrations', `changed after they were applied: ${changed.join(', ')}`, 'restore the files');
  }
  if (pending.length > 0) {
    return wrong('migrations', `pending: ${pending.join(', ')}`, 'run "crownwheel migrate", or start the service');
  }
  return ok('migrations', `all ${applied.length} applied`);
}

async function checkClock(db: Database): Promise<Check> {
  const before = Date.now();
  const [row] = await db.query<{ now: Date }>(sql`select clock_timestamp() as now`);
  const middle = (before + Date.now()) / 2;
  const differenceMs = Math.round(Math.abs((row?.now.getTime() ?? middle) - middle));
  if (differenceMs <= CLOCK_DIFFERENCE_MAX_MS) return ok('clock', `${differenceMs} ms from the database's`);
  return wrong('clock', `${differenceMs} ms from the database's`, 'synchronize both machines by NTP');
}

async function checkPort(config: Config): Promise<Check> {
  try {
    await assertPortFree(config);
    return ok('port', `${config.host}:${config.port} is free`);
  } catch (error) {
    if (await isCrownwheel(config)) return ok('port', `a service answers on ${config.host}:${config.port}`);
    return wrong('port', (error as Error).message, 'the service cannot listen there');
  }
}

async function isCrownwheel({ host, port }: Config): Promise<boolean> {
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${reachable}:${port}/api/v1/health`, {
      signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
    });
    return response.headers.has('x-api-version');
  } catch {
    return false;
  }
}
