import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, secretKeysFile, withSecretKeys } from '../config.ts';
import type { DatabaseAddress } from '../db/connection-settings.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../db/database.ts';
import { type EmbeddedDatabase, hasCluster, startEmbedded } from '../db/embedded/embedded.ts';
import { sql } from '../db/sql.ts';
import { StartError } from '../db/start-error.ts';
import { connectionCount, poolSizes } from './pool-sizes.ts';

/** Where the secret keys are kept, for an operator who has to restore one, and whether they were just created. */
export type KeySource = { location: string; isNew: boolean };

export type Connection = {
  config: Config;
  keySource: KeySource;
  address: DatabaseAddress;
  db: Database;
  /** Connections that nothing else can take: for the lookup of keys and the rate limit, and for the worker. */
  admissionDb: Database;
  workerDb: Database;
  /** Fulfilled when the database answers; on a connection of its own, so that it does not wait behind requests. */
  ping(): Promise<unknown>;
  embedded: EmbeddedDatabase | null;
  /** Closes the pool, then stops the embedded server if this process owns it. */
  close(): Promise<void>;
};

export type ConnectOptions = {
  /** The service owns the embedded server alone; a command may use one that is running. */
  isExclusive: boolean;
  onProgress: (message: string) => void;
  onFault: (message: string, error?: Error) => void;
  /** Where the embedded server listens that another process of this service has started. */
  attachTo?: DatabaseAddress;
  /** Whoever only looks may go on without the secret keys of an existing database; `secretKeys` is then empty. */
  toleratesMissingKeys?: boolean;
  /** Aborting it ends a start that is under way. */
  signal?: AbortSignal;
};

export const CLOSE_LIMIT_MS = 2_000;
const PING_LIMITS = { connectTimeoutMs: 2_000, statementTimeoutMs: 2_000 };
const OLDEST_SERVER_VERSION = 150_000;
/** Room in the embedded server for commands, migrations and an operator's own session. */
const SPARE_CONNECTIONS = 20;
const EMBEDDED_CONNECTIONS_MIN = 100;

/** From settings to a database that answers, whichever kind it is. */
export async function connect(settings: Config, options: ConnectOptions): Promise<Connection> {
  const isOurs = settings.databaseUrl === null && options.attachTo === undefined;
  const hasLostKeys = isOurs && !options.isExclusive && (await isKeyFileMissing(settings));
  if (hasLostKeys && options.toleratesMissingKeys !== true) {
    throw new StartError(
      `${secretKeysFile(settings)} is missing, though there is a database; restore it from the backup, or, if it is lost, start the service, which makes a new one`,
    );
  }
  const embedded = isOurs ? await startEmbedded(embeddedOptions(settings, options)) : null;
  const pools: Database[] = [];
  let isClosing = false;
  const close = async () => {
    isClosing = true;
    // A query that hangs keeps its connection; stopping must not wait for it.
    await Promise.race([
      Promise.all(pools.map((pool) => pool.close())),
      sleep(CLOSE_LIMIT_MS, undefined, { ref: false }),
    ]);
    await embedded?.stop();
  };
  try {
    const keySource = keySourceOf(settings);
    const config = hasLostKeys ? settings : withSecretKeys(settings);
    const address = embedded?.address ?? options.attachTo ?? { url: settings.databaseUrl ?? '' };
    const common = {
      address,
      schema: config.databaseSchema,
      // The pool lets its connections go without waiting for their end, so that our own stop may break one.
      onIdleError: (error: Error) => {
        if (!isClosing) options.onFault(`a database connection was lost: ${error.message}`, error);
      },
    };
    const open = (given: Partial<DatabaseOptions> & { poolSize: number }): Database => {
      const pool = openDatabase({ ...common, ...given });
      pools.push(pool);
      return pool;
    };
    const sizes = options.isExclusive
      ? poolSizes(config)
      : { shared: config.databasePoolSize, admission: 0, worker: 0 };
    const db = open({ poolSize: sizes.shared });
    const admissionDb = sizes.admission === 0 ? db : open({ poolSize: sizes.admission });
    const workerDb = sizes.worker === 0 ? db : open({ poolSize: sizes.worker });
    const pinged = open({ ...PING_LIMITS, poolSize: 1, onIdleError: () => {} });
    await assertServer(db, settings.databaseUrl === null ? '' : '; check DATABASE_URL');
    const ping = () => pinged.query(sql`select 1`);
    return { config, keySource, address, db, admissionDb, workerDb, embedded, ping, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** To be asked before the keys are, which makes them. */
function keySourceOf(settings: Config): KeySource {
  if (settings.secretKeys.length > 0) return { location: 'SECRET_KEYS', isNew: false };
  const location = secretKeysFile(settings);
  return { location, isNew: !existsSync(location) };
}

/**
 * Without it a command makes none: nobody would notice that what is stored can't be decrypted any more. The start of a service
 * warns.
 */
async function isKeyFileMissing(settings: Config): Promise<boolean> {
  if (settings.secretKeys.length > 0) return false;
  return !existsSync(secretKeysFile(settings)) && (await hasCluster(settings.dataDir));
}

function embeddedOptions(settings: Config, options: ConnectOptions) {
  const connections = Math.max(EMBEDDED_CONNECTIONS_MIN, connectionCount(settings) + SPARE_CONNECTIONS);
  return {
    ...options,
    dataDir: settings.dataDir,
    onCreated: () => void withSecretKeys(settings),
    settings: { max_connections: String(connections) },
  };
}

async function assertServer(db: Database, advice: string): Promise<void> {
  const [row] = await db
    .query<{ version: number; text: string }>(
      sql`select current_setting('server_version_num')::integer as version, current_setting('server_version') as text`,
    )
    .catch((error: Error) => {
      throw new StartError(`the database cannot be reached: ${reasonOf(error)}${advice}`);
    });
  if (row !== undefined && row.version < OLDEST_SERVER_VERSION) {
    throw new StartError(`the database is PostgreSQL ${row.text}; 15 or newer is needed`);
  }
}

/** Connecting to a name with several addresses fails with one error for each, and no message of its own. */
function reasonOf(error: Error): string {
  const first = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  return (first ?? error).message.replaceAll('\n', ' ');
}
