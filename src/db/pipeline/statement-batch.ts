import type pg from 'pg';
import type { Sql } from '../sql.ts';
import { parameterOf } from '../values/parameters.ts';

/**
 * Several statements in one round trip: their messages are written together, behind them one Sync. The server runs them in
 * their order and skips what follows a failed one. `pg` itself sends a statement at a time and asks for the description of
 * its columns each time; writing to the socket was 43 % of the CPU time that the service spent on an order.
 *
 * It is a query of its own kind for `pg`, which hands it the server's messages (the methods that begin with `handle`).
 */
export type StatementResult = { command: string; rows: object[] };

type TypeParsers = { getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown };
type Column = { name: string; parse: (text: string) => unknown };

/** What of the protocol this needs; `pg` has it and does not declare it. */
type WireConnection = {
  stream: { cork(): void; uncork(): void };
  /** Prepared statements of this connection by their names, and those that are on their way to the server. */
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  parse(statement: { text: string; name: string }): void;
  bind(values: { statement: string; values: unknown[] }): void;
  describe(portal: { type: 'P'; name: string }): void;
  execute(portal: object): void;
  sync(): void;
  sendCopyFail(message: string): void;
};
type Message = { text: string; fields: { name: string; dataTypeID: number; format: 'text' | 'binary' }[] };
type Row = { fields: (string | null)[] };

/** The columns of prepared statements. The server refuses to run one whose columns are others since. */
const columnsByConnection = new WeakMap<object, Map<string, Column[]>>();
const NO_COLUMNS: Column[] = [];

export class StatementBatch {
  /** Set by `pg` or by `send`; called once. */
  callback: (error: unknown, results?: StatementResult[]) => void = () => {};
  /** Read by `pg`, in milliseconds. */
  readonly query_timeout: number;
  readonly statements: readonly Sql[];
  readonly #types: TypeParsers;
  readonly #results: StatementResult[] = [];
  #known = new Map<string, Column[]>();
  #columns: Column[] = NO_COLUMNS;
  #rows: object[] = [];
  /** What the server does not know of: a value that can't be sent, or one that can't be read. */
  #fault: unknown = null;

  constructor(statements: readonly Sql[], types: TypeParsers, timeoutMs: number) {
    this.statements = statements;
    this.#types = types;
    this.query_timeout = timeoutMs;
  }

  /** The statement whose answer comes now; `pg` notes by name and text that it is prepared. */
  get name(): string | undefined {
    return this.#current?.name;
  }

  get text(): string {
    return this.#current?.text ?? '';
  }

  get #current(): Sql | undefined {
    return this.statements[this.#results.length];
  }

  submit(connection: WireConnection): null {
    const known = columnsByConnection.get(connection);
    if (known === undefined) columnsByConnection.set(connection, this.#known);
    else this.#known = known;
    this.#expectNext();
    connection.stream.cork();
    try {
      for (const statement of this.statements) this.#write(connection, statement);
    } catch (error) {
      this.#fault = error;
    } finally {
      connection.sync();
      connection.stream.uncork();
    }
    return null;
  }

  #write(connection: WireConnection, { name = '', text, values }: Sql): void {
    const parameters = values.map(parameterOf);
    if (name === '') connection.parse({ text, name });
    else if (
      connection.parsedStatements[name] === undefined &&
      connection.submittedNamedStatements[name] === undefined
    ) {
      connection.parse({ text, name });
      connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: parameters });
    if (!this.#known.has(name)) connection.describe({ type: 'P', name: '' });
    connection.execute({});
  }

  handleRowDescription({ fields }: Message): void {
    this.#columns = fields.map(({ name, dataTypeID, format }) => ({
      name,
      parse: this.#types.getTypeParser(dataTypeID, format),
    }));
  }

  handleDataRow({ fields }: Row): void {
    if (this.#fault !== null) return;
    try {
      const row: Record<string, unknown> = {};
      // Not `entries()`, which makes an array for each of a page's thousands of values.
      let index = 0;
      for (const { name, parse } of this.#columns) {
        const text = fields[index++] ?? null;
        row[name] = text === null ? null : parse(text);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#fault = error;
    }
  }

  handleCommandComplete({ text }: Pick<Message, 'text'>): void {
    const name = this.name;
    if (name !== undefined && !this.#known.has(name)) this.#known.set(name, this.#columns);
    this.#results.push({ command: text.split(' ', 1)[0] ?? '', rows: this.#rows });
    this.#expectNext();
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  handleCopyInResponse(connection: WireConnection): void {
    connection.sendCopyFail('no statement of ours copies');
  }

  handleReadyForQuery(): void {
    if (this.#fault === null) this.callback(null, this.#results);
    else this.callback(this.#fault);
  }

  /** The server skips what follows, so that was not prepared. */
  handleError(error: unknown, connection: WireConnection): void {
    for (const { name } of this.statements.slice(this.#results.length)) {
      if (name !== undefined) delete connection.submittedNamedStatements[name];
    }
    this.callback(error);
  }

  #expectNext(): void {
    this.#rows = [];
    this.#columns = this.#known.get(this.name ?? '') ?? NO_COLUMNS;
  }
}

/** Sends a batch over a connection: a result for each statement, or the error of the first that failed. */
export async function sendBatch(client: pg.ClientBase, batch: StatementBatch): Promise<StatementResult[]> {
  return await new Promise<StatementResult[]>((resolve, reject) => {
    batch.callback = (error, results) => (results === undefined ? reject(error) : resolve(results));
    client.query(batch as unknown as pg.Submittable);
  }).catch((error: unknown) => {
    // The stack of an error that came over the network leads nowhere; this one leads to the statement's caller.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  });
}
