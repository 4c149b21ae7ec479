import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { CLIENT_GRACE_MS, clientConfig, type DatabaseAddress } from './connection-settings.ts';
import { isConnectionEnd } from './database-away.ts';
import { openPipeline, type Send, type Waiting } from './pipeline/pipeline.ts';
import { StatementBatch, type StatementResult, sendBatch } from './pipeline/statement-batch.ts';
import { Sql } from './sql.ts';
import { TYPE_PARSERS } from './values/type-parsers.ts';

/** Anything that can run a statement: the database itself, or a transaction on it. */
export type Queryable = {
  query<Row extends object>(statement: Sql, limits?: QueryLimits): Promise<Row[]>;
};

export type QueryLimits = {
  /** How long the caller waits for the answer, if that is less than a statement may take at all. */
  timeoutMs?: number;
};

export type TransactionOptions = {
  /**
   * How prepared statements are planned; left alone, the server decides after some runs. "once" makes one plan for any
   * values: right where all access is by key and batches are small, as planning took half of an order's time.
   * "by index" is one plan that never reads a whole table: right for a queue, which may be empty when the plan is made
   * and hold a hundred thousand rows a moment later.
   */
  planning?: 'once' | 'by index';
  /** How long each of its statements waits for a lock, if that is less than others wait. */
  lockTimeoutMs?: number;
};

const BEGIN = new Sql('begin', [], 'cw_begin');
const COMMIT = new Sql('commit', [], 'cw_commit');
const ROLLBACK = new Sql('rollback', [], 'cw_rollback');

const PLANNING = {
  // Also the checks of foreign keys, whose plans last as long as the connection: made while a table was small they read all
  // of it, for each row.
  once: { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' },
  // A join that is not by loops would read all of one side, be it by an index; and a bitmap all that matches, whatever
  // the limit.
  'by index': {
    plan_cache_mode: 'force_generic_plan',
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    enable_bitmapscan: 'off',
  },
};

export type Transaction = Queryable & {
  readonly isTransaction: true;
  /**
   * Sends a statement whose answer nobody needs together with the next query, or with the commit: it costs no round trip
   * of its own. Its failure is that of the query, or of the transaction. See `pipeline.ts`. If it answers with rows that
   * matter after the commit, `onRows` is handed them when they arrive.
   */
  defer<Row extends object>(statement: Sql, onRows?: (rows: Row[]) => void): void;
  /** Sends what was deferred now: who has something else to do meanwhile need not keep it from the server. */
  flush(): Promise<void>;
  /** The last query of the transaction: the commit goes with it, and nothing may follow. */
  queryLast<Row extends object>(statement: Sql): Promise<Row[]>;
};

export type Database = Queryable & {
  transaction<Result>(work: (tx: Transaction) => Promise<Result>, options?: TransactionOptions): Promise<Result>;
  /** A connection of its own, outside the pool: for session locks and LISTEN. The caller closes it. */
  connect(): Promise<pg.Client>;
  /** The pool itself, for libraries that bring their own queries. */
  readonly pool: pg.Pool;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  address: DatabaseAddress;
  poolSize: number;
  /** The schema of our tables. */
  schema?: string;
  /** Called for faults that no query reports, such as the loss of an idle connection. */
  onIdleError: (error: Error) => void;
  /** How long a query may wait for a connection; tests shorten it. */
  connectTimeoutMs?: number;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
};

const CONNECT_TIMEOUT_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** Less than a statement may take, so that a wait for a lock ends as what it is. */
const LOCK_TIMEOUT_MS = 10_000;
const TRANSACTION_ATTEMPTS = 4;
const RETRY_PAUSE_MS = 10;

export const UNIQUE_VIOLATION = '23505';
export const LOCK_NOT_AVAILABLE = '55P03';
export const FOREIGN_KEY_VIOLATION = '23503';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
/** A migration changed a table under a prepared statement; a new connection plans it afresh. */
const STALE_PLAN = '0A000';

export function openDatabase(options: DatabaseOptions): Database {
  const settings = connectionSettings(options);
  const timeoutOfStatementMs = (options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS) + CLIENT_GRACE_MS;
  const pool = new pg.Pool({ ...settings, max: options.poolSize, idleTimeoutMillis: 30_000 });
  pool.on('error', options.onIdleError);
  // Losing the server emits 'error' on a lent connection too, where the query in flight reports the same fault. Listened
  // to from the very start: a server that is shutting down may take its leave in the packet that welcomes us.
  pool.on('connect', (client) => client.on('error', ignore));

  /** Lends one connection; one that failed below SQL is thrown away instead of going back to the pool. */
  async function withConnection<Result>(use: (send: Send) => Promise<Result>): Promise<Result> {
    const client = await pool.connect();
    let isBroken = false;
    try {
      return await use(async (statements) => {
        try {
          const results: StatementResult[] = [];
          for (const batch of batches(statements)) results.push(...(await send(client, batch)));
          return results;
        } catch (error) {
          isBroken ||= !isSqlError(error);
          throw error;
        }
      });
    } finally {
      client.release(isBroken);
    }
  }

  async function attempt<Result>(
    work: (tx: Transaction) => Promise<Result>,
    options: TransactionOptions,
  ): Promise<Result> {
    return await withConnection(async (send) => {
      const begin = [BEGIN, ...settingsOf(options)];
      const pipeline = openPipeline(send, { begin, commit: COMMIT, rollback: ROLLBACK });
      try {
        const result = await work(pipeline.tx);
        await pipeline.commit();
        return result;
      } catch (error) {
        // If even this fails the connection is thrown away, and the server rolls back by itself.
        await pipeline.rollback().catch(ignore);
        throw error;
      }
    });
  }

  async function send(client: pg.ClientBase, batch: readonly Waiting[]): Promise<StatementResult[]> {
    const [first] = batch;
    if (first !== undefined && isScript(first.statement)) return [await sendScript(client, first.statement)];
    const timeoutMs = batch.reduce((sum, { limits }) => sum + (limits.timeoutMs ?? timeoutOfStatementMs), 0);
    const statements = batch.map(({ statement }) => statement);
    return await sendBatch(client, new StatementBatch(statements, TYPE_PARSERS, timeoutMs));
  }

  return {
    pool,
    query: <Row extends object>(statement: Sql, limits: QueryLimits = {}) =>
      withConnection(async (send) => {
        const [result] = await send([{ statement, limits }]);
        return (result?.rows ?? []) as Row[];
      }),
    async transaction(work, options = {}) {
      for (let attempts = 1; ; attempts++) {
        try {
          return await attempt(work, options);
        } catch (error) {
          if (attempts === TRANSACTION_ATTEMPTS || !isRetryable(error)) throw error;
          await sleep(RETRY_PAUSE_MS * attempts * (1 + Math.random()));
        }
      }
    },
    async connect() {
      const client = new pg.Client(settings);
      client.on('error', options.onIdleError);
      await client.connect();
      return client;
    },
    close: () => pool.end(),
  };
}

/** Joins the transaction that it is given, or runs one of its own. */
export async function inTransaction<Result>(
  db: Database | Transaction,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return 'isTransaction' in db ? await work(db) : await db.transaction(work);
}

/** True when the server refused the statement and the connection is still good. */
function isSqlError(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.code !== STALE_PLAN && !isConnectionEnd(error.code);
}

/** The SQLSTATE of an error that the server reported, else undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

const settingsByOptions = new Map<string, Sql[]>();

/** One statement for all settings of a transaction, or none: each would be a statement of its own with `set local`. */
function settingsOf({ planning, lockTimeoutMs }: TransactionOptions): Sql[] {
  const name = `cw_settings ${planning ?? ''} ${lockTimeoutMs ?? ''}`;
  const known = settingsByOptions.get(name);
  if (known !== undefined) return known;
  const settings = Object.entries({
    ...(planning === undefined ? {} : PLANNING[planning]),
    ...(lockTimeoutMs === undefined ? {} : { lock_timeout: String(lockTimeoutMs) }),
  });
  const calls = settings.map(([setting, value]) => `set_config('${setting}', '${value}', true)`);
  const statements = calls.length === 0 ? [] : [new Sql(`select ${calls.join(', ')}`, [], name)];
  settingsByOptions.set(name, statements);
  return statements;
}

/** Text without values may hold several statements, as a migration does; only the simple protocol takes those. */
function isScript({ name, values }: Sql): boolean {
  return name === undefined && values.length === 0;
}

/** What can go in one round trip each: a script goes alone. */
function batches(statements: readonly Waiting[]): Waiting[][] {
  const groups: Waiting[][] = [];
  for (const one of statements) {
    const last = groups.at(-1);
    const [first] = last ?? [];
    if (last === undefined || first === undefined || isScript(one.statement) || isScript(first.statement))
      groups.push([one]);
    else last.push(one);
  }
  return groups;
}

async function sendScript(client: pg.ClientBase, { text }: Sql): Promise<StatementResult> {
  // For several statements, `pg` returns an array.
  const result: pg.QueryResult | pg.QueryResult[] = await client.query(text);
  return Array.isArray(result) ? { command: '', rows: [] } : { command: result.command, rows: result.rows };
}

function ignore(): void {}

function connectionSettings(options: DatabaseOptions): pg.ClientConfig {
  const limits = {
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: options.lockTimeoutMs ?? LOCK_TIMEOUT_MS,
  };
  return clientConfig(options.address, limits, options.schema === undefined ? {} : { schema: options.schema });
}

/** Also when the work has given the fault a name of its own and kept it as the cause. */
function isRetryable(error: unknown): boolean {
  const code = sqlState(error);
  if (code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED) return true;
  return error instanceof Error && error.cause !== undefined && isRetryable(error.cause);
}
