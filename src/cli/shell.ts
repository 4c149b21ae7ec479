import type { Command } from 'commander';
import type { ChannelContext } from '../channel/context.ts';
import type { Config } from '../config.ts';
import { VERSIONS } from '../contract/versions.ts';
import type { Database } from '../db/database.ts';
import { assertSameHistory, migrate, migrationState } from '../db/migrate.ts';
import { StartError } from '../db/start-error.ts';
import { type Connection, connect } from '../service/connect.ts';
import { aborted } from '../service/shutdown/shutdown-signals.ts';

/** The environment of a command line; a test passes its own. */
export type Terminal = {
  readSettings: () => Config;
  writeOut: (text: string) => void;
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
  /** Who carries a mass change into the documents. A command ends long before. */
  jobNote: string;
  /** Who removes what was deleted. */
  deletionNote: string;
};

/** What every command is given. */
export type Shell = {
  readSettings: () => Config;
  readInput: () => Promise<string>;
  onProgress: (message: string) => void;
  /** Declares a command's work; its answer is printed in the form that was asked for. */
  run<Args extends unknown[]>(command: Command, work: (...args: Args) => Promise<CommandOutput>): void;
  /** A database that answers and has this release's schema. */
  withDatabase<Result>(work: (db: Database) => Promise<Result>): Promise<Result>;
  /** The same with what changes of channels need, and what to say of the jobs that they ask for. */
  withChannel<Result>(work: (channel: CommandChannel) => Promise<Result>): Promise<Result>;
  /** The same without looking at the schema. */
  withConnection<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
  exitCode(): number;
};

/** One connection does for a command, a second one for what it starts beside. */
const POOL_SIZE = 2;

export function createShell(terminal: Terminal, isJson: boolean): Shell {
  let exitCode = 0;
  const onProgress = (message: string) => {
    if (!isJson) terminal.writeErr(`${message}\n`);
  };

  async function withConnection<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const settings = { ...terminal.readSettings(), databasePoolSize: POOL_SIZE };
    const connection = await connect(settings, {
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
    withDatabase: (work) =>
      withConnection(async (connection) => {
        await assertMigrated(connection, onProgress);
        return await work(connection.db);
      }),
    withChannel: (work) =>
      withConnection(async (connection) => {
        await assertMigrated(connection, onProgress);
        return await work({
          context: contextOf(connection),
          config: connection.config,
          jobNote: jobNoteOf(connection),
          deletionNote: deletionNoteOf(connection),
        });
      }),
    exitCode: () => exitCode,
  };
}

/** Nobody is woken: events and jobs are found by the next look of a worker. */
function contextOf({ db, config }: Connection): ChannelContext {
  return { db, now: () => null, publicUrl: config.publicUrl, versions: VERSIONS, onEvents: () => {} };
}

function jobNoteOf({ embedded }: Connection): string {
  const watch = '"jobs list" shows how far it is.';
  if (embedded === null) return `A service with the role worker carries it into the documents; ${watch}`;
  if (embedded.isShared) return `The running service carries it into the documents; ${watch}`;
  return 'No service runs on this folder: the documents change when one is started.';
}

function deletionNoteOf({ embedded }: Connection): string {
  const watch = '"jobs list" shows how far it is.';
  if (embedded === null) return `A service with the role worker removes its data; ${watch}`;
  if (embedded.isShared) return `The running service removes its data; ${watch}`;
  return 'No service runs on this folder: its data is removed when one is started.';
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
