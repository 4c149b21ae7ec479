import type { QueryLimits, Transaction } from '../database.ts';
import type { Sql } from '../sql.ts';
import type { StatementResult } from './statement-batch.ts';

/**
 * The statements of one transaction on their way to the server, in as few round trips as their callers allow:
 *
 * | call | when it is sent | who learns of its failure |
 * |---|---|---|
 * | `query`, awaited | at once, with what was deferred before it | its caller |
 * | `query` of several callers that don't wait for each other | together, in the order of the calls | all of them |
 * | `queryLast` | at once, together with the commit | its caller |
 * | `defer` | with the next of the others, or with the commit | who called that |
 * | `flush` | what was deferred, at once | its caller |
 *
 * Whoever deferred a statement may be handed its rows. They come before the transaction is known to be committed.
 *
 * The server runs each statement for itself: one that follows a lock sees what was committed before the lock was free. The
 * beginning of the transaction goes with its first statements, and a transaction that sends none is never begun.
 */
export type Pipeline = {
  tx: Transaction;
  commit(): Promise<void>;
  rollback(): Promise<void>;
};

export type Send = (statements: readonly Waiting[]) => Promise<StatementResult[]>;
export type Waiting = { statement: Sql; limits: QueryLimits };

type Entry = Waiting & { isDeferred: boolean; settle: Settle | null };
type Settle = { resolve(result: StatementResult): void; reject(error: unknown): void };

export type TransactionEnds = { begin: readonly Sql[]; commit: Sql; rollback: Sql };

export function openPipeline(send: Send, ends: TransactionEnds): Pipeline {
  let waiting: Entry[] = [];
  let hasBegun = false;
  let hasEnded = false;
  let isSending = false;

  function defer(statement: Sql, onRows?: (rows: object[]) => void): void {
    const settle = onRows === undefined ? null : { resolve: ({ rows }: StatementResult) => onRows(rows), reject() {} };
    waiting.push({ statement, limits: {}, isDeferred: true, settle });
  }

  function request(statement: Sql, limits: QueryLimits = {}): Promise<StatementResult> {
    return new Promise((resolve, reject) => {
      waiting.push({ statement, limits, isDeferred: false, settle: { resolve, reject } });
      startSending();
    });
  }

  /** Somebody waits for the last of the deferred statements from now on, and so for all of them. */
  async function flush(): Promise<void> {
    const last = waiting.at(-1);
    if (last === undefined) return;
    const { settle } = last;
    await new Promise<void>((resolve, reject) => {
      last.isDeferred = false;
      last.settle = {
        resolve(result) {
          settle?.resolve(result);
          resolve();
        },
        reject(error) {
          settle?.reject(error);
          reject(error);
        },
      };
      startSending();
    });
  }

  function startSending(): void {
    if (isSending) return;
    isSending = true;
    // After all that is called in the same turn.
    queueMicrotask(() => void sendAll());
  }

  /** Whoever still works on an ended transaction, as when another part of it has failed, must not meet the next one. */
  function assertOpen(): void {
    if (hasEnded) throw new Error('the transaction has ended');
  }

  async function sendAll(): Promise<void> {
    while (waiting.some(({ isDeferred }) => !isDeferred)) {
      const batch = hasBegun ? waiting : [...ends.begin.map(opening), ...waiting];
      waiting = [];
      hasBegun = true;
      try {
        const results = await send(batch);
        for (const [index, { settle }] of batch.entries()) settle?.resolve(results[index] as StatementResult);
      } catch (error) {
        for (const { settle } of batch) settle?.reject(error);
      }
    }
    isSending = false;
  }

  async function commit(): Promise<void> {
    hasEnded = true;
    if (!hasBegun && waiting.length === 0) return;
    const { command } = await request(ends.commit);
    // So the server answers when a statement had failed and the work went on as if it had not.
    if (command === 'ROLLBACK') throw new Error('nothing was committed: a statement of the transaction had failed');
  }

  /** Set when the commit went with the last query. */
  let committed: Promise<void> | null = null;

  return {
    tx: {
      isTransaction: true,
      async query<Row extends object>(statement: Sql, limits?: QueryLimits) {
        assertOpen();
        return (await request(statement, limits)).rows as Row[];
      },
      async queryLast<Row extends object>(statement: Sql) {
        assertOpen();
        const answer = request(statement);
        committed = commit();
        const [{ rows }] = await Promise.all([answer, committed]);
        return rows as Row[];
      },
      defer<Row extends object>(statement: Sql, onRows?: (rows: Row[]) => void) {
        assertOpen();
        defer(statement, onRows as ((rows: object[]) => void) | undefined);
      },
      async flush() {
        assertOpen();
        await flush();
      },
    },
    commit: () => committed ?? commit(),
    async rollback() {
      hasEnded = true;
      waiting = waiting.filter(({ isDeferred }) => !isDeferred);
      if (hasBegun) await request(ends.rollback);
    },
  };
}

function opening(statement: Sql): Entry {
  return { statement, limits: {}, isDeferred: true, settle: null };
}
