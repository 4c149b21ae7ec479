import { type Config, withSecretKeys } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { type EmbeddedDatabase, startEmbedded } from '../db/embedded.ts';
import { sql } from '../db/sql.ts';
import { StartError } from '../db/start-error.ts';

export type Connection = {
  config: Config;
  db: Database;
  embedded: EmbeddedDatabase | null;
  /** Closes the pool, then stops the embedded server if this process owns it. */
  close(): Promise<void>;
};

export type ConnectOptions = {
  /** The service owns the embedded server alone; a command may use one that is running. */
  isExclusive: boolean;
  onProgress: (message: string) => void;
  onFault: (message: string) => void;
};

const OLDEST_SERVER_VERSION = 150_000;

/** From settings to a database that answers, whichever kind it is. */
export async function connect(settings: Config, options: ConnectOptions): Promise<Connection> {
  const embedded =
    settings.databaseUrl === null ? await startEmbedded({ dataDir: settings.dataDir, ...options }) : null;
  const config = withSecretKeys(settings);
  const db = openDatabase({
    address: embedded?.address ?? { url: settings.databaseUrl ?? '' },
    poolSize: config.databasePoolSize,
    onIdleError: (error) => options.onFault(`a database connection was lost: ${error.message}`),
  });
  const close = async () => {
    await db.close();
    await embedded?.stop();
  };
  try {
    await assertServer(db);
  } catch (error) {
    await close();
    throw error;
  }
  return { config, db, embedded, close };
}

async function assertServer(db: Database): Promise<void> {
  const [row] = await db
    .query<{ version: number; text: string }>(
      sql`select current_setting('server_version_num')::integer as version, current_setting('server_version') as text`,
    )
    .catch((error: Error) => {
      throw new StartError(`the database at DATABASE_URL cannot be reached: ${reasonOf(error)}`);
    });
  if (row !== undefined && row.version < OLDEST_SERVER_VERSION) {
    throw new StartError(`the database is PostgreSQL ${row.text}; 15 or newer is needed`);
  }
}

/** Connecting to a name with several addresses fails with one error for each, and no message of its own. */
function reasonOf(error: Error): string {
  const first = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  return (first ?? error).message;
}
