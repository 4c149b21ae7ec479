import type { Command } from 'commander';
import type { ChannelContext } from '../channel/context.ts';
import type { Config } from '../config.ts';
import { VERSIONS } from '../contract/versions.ts';
import type { Database } from '../db/database.ts';
import { hasCluster } from '../db/embedded/embedded.ts';
import { assertSameHistory, migrate, migrationState } from '../db/migrate.ts';
import { StartError } from '../db/start-error.ts';
import { type Connection, type ConnectOptions, connect } from '../service/connect.ts';
import { aborted } from '../service/shutdown/shutdown-signals.ts';

/** The environment of a command line; a test passes its own. */
export type Terminal = {
  readSettings: () => Config;
  writeOut: (text: string) => void;
  /** Fails if something of it could not be written. */
  written: () => Promise<void>;
  writeErr: (text: string) => void;
  /** All of standard input. */
  readInput: () => Promise<string>;
  /** Aborted when the operator presses Ctrl-C. */
  stop: AbortSignal;
};

/** What a command prints: for a program, and for a person. */
export type CommandOutput = {
  json: Record<string, unknown>;
  text: string;
  isFailure?: boolean;
  /** For a failure whose exit code is not 1. */
  exitCode?: number;
};

export type CommandChannel = {
  context: ChannelContext;
  /** The settings with the secret keys, which may lie beside the embedded database. */
  config: Config;
  /** Who carries a mass change into the documents of these dealers, and how to watch it. A command ends long before. */
  jobNote: (organizationIds: readonly string[]) => string;
  /** Who removes what was deleted, and how to watch it; null if the integration was of no dealer. */
  deletionNote: (organizationId: string | null) => string;
};

/** Only a command that makes sense without a dealer creates the database: elsewhere a missing one is a wrong DATA_DIR. */
type DatabaseOptions = { createsDatabase?: boolean } & Pick<ConnectOptions, 'toleratesMissingKeys'>;

/** What every command is given. */
export type Shell = {
  readSettings: () => Config;
  readInput: () => Promise<string>;
  onProgress: (message: string) => void;
  /** Declares a command's work; its answer is printed in the form that was asked for. */
  run<Args extends unknown[]>(command: Command, work: (...args: Args) => Promise<CommandOutput>): void;
  /** A database that answers and has this release's schema. */
  withDatabase<Result>(work: (db: Database) => Promise<Result>, options?: DatabaseOptions): Promise<Result>;
  /** The same with what changes of channels need, and what to say of the jobs that they ask for. */
  withChannel<Result>(work: (channel: CommandChannel) => Promise<Result>, options?: DatabaseOptions): Promise<Result>;
  /** The same without looking at the schema. */
  withConnection<Result>(work: (connection: Connection) => Promise<Result>, options?: DatabaseOptions): Promise<Result>;
  exitCode(): number;
};

/** One connection does for a command, a second one for what it starts beside. */
const POOL_SIZE = 2;

/** A rate may concern many dealers; a few are named. */
const WATCHED_LIMIT = 3;

export function createShell(terminal: Terminal, isJson: boolean): Shell {
  let exitCode = 0;
  const onProgress = (message: string) => {
    if (!isJson) terminal.writeErr(`${message}\n`);
  };

  async function withConnection<Result>(
    work: (connection: Connection) => Promise<Result>,
    { createsDatabase = false, ...options }: DatabaseOptions = {},
  ): Promise<Result> {
    const settings = { ...terminal.readSettings(), databasePoolSize: POOL_SIZE };
    if (!createsDatabase) await assertDatabaseExists(settings);
    const connection = await connect(settings, {
      ...options,
      isExclusive: false,
      onProgress,
      onFault: () => {},
      signal: terminal.stop,
    });
    const interrupted = aborted(terminal.stop).then((): never => {
      throw new StartError('interrupted');
    });
    try {
      return await Promise.race([work(connection), interrupted]);
    } finally {
      await connection.close();
    }
  }

  return {
    readSettings: terminal.readSettings,
    readInput: terminal.readInput,
    onProgress,
    run(command, work) {
      command.option('--json', 'print one JSON document');
      command.action(async (...args) => {
        const answer = await work(...(args as Parameters<typeof work>));
        terminal.writeOut(isJson ? `${JSON.stringify(answer.json, null, 2)}\n` : `${answer.text}\n`);
        if (answer.isFailure) exitCode = 1;
        exitCode = answer.exitCode ?? exitCode;
      });
    },
    withConnection,
    withDatabase: (work, options) =>
      withConnection(async (connection) => {
        await assertMigrated(connection, onProgress);
        return await work(connection.db);
      }, options),
    withChannel: (work, options) =>
      withConnection(async (connection) => {
        await assertMigrated(connection, onProgress);
        return await work({
          context: contextOf(connection),
          config: connection.config,
          jobNote: (organizationIds) => jobNoteOf(connection, organizationIds),
          deletionNote: (organizationId) => deletionNoteOf(connection, organizationId),
        });
      }, options),
    exitCode: () => exitCode,
  };
}

/** Nobody is woken: events and jobs are found by the next look of a worker. */
function contextOf({ db, config }: Connection): ChannelContext {
  return { db, now: () => null, publicUrl: config.publicUrl, versions: VERSIONS, onEvents: () => {} };
}

function jobNoteOf({ embedded }: Connection, organizationIds: readonly string[]): string {
  if (embedded !== null && !embedded.isShared) {
    return 'No service runs on this folder: the documents change when one is started.';
  }
  const who = embedded === null ? 'A service with the role worker' : 'The running service';
  return `${who} carries it into the documents.${watchNote(organizationIds)}`;
}

function deletionNoteOf({ embedded }: Connection, organizationId: string | null): string {
  if (embedded !== null && !embedded.isShared) {
    return 'No service runs on this folder: its data is removed when one is started.';
  }
  const who = embedded === null ? 'A service with the role worker' : 'The running service';
  return `${who} removes its data.${watchNote(organizationId === null ? [] : [organizationId])}`;
}

/** Whole commands, to be copied. */
function watchNote(organizationIds: readonly string[]): string {
  const named = organizationIds.slice(0, WATCHED_LIMIT);
  if (named.length === 0) return '';
  const more = organizationIds.length - named.length;
  const rest = more === 0 ? '' : `\n  and the same for ${more} more ${more === 1 ? 'dealer' : 'dealers'}`;
  const commands = named.map((id) => `\n  npm run -s crownwheel -- jobs list --organization ${id}`);
  return ` See how far it is:${commands.join('')}${rest}`;
}

/** A look into the wrong folder must not make a database there and find it empty. */
async function assertDatabaseExists({ databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl !== null || (await hasCluster(dataDir))) return;
  throw new StartError(`There is no database in ${dataDir}; is DATA_DIR that of the service?`);
}

/** A database of our own is brought up to date, as the service would; one that others use too is left as it is. */
async function assertMigrated({ db, embedded }: Connection, onProgress: (message: string) => void): Promise<void> {
  if (embedded !== null && !embedded.isShared) {
    await migrate(db, onProgress);
    return;
  }
  const state = await migrationState(db);
  assertSameHistory(state);
  if (state.pending.length > 0) {
    throw new StartError(
      `the database lacks ${state.pending.length} of this release's migrations; run "crownwheel migrate", or start the service`,
    );
  }
}
