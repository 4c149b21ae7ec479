import type pg from 'pg';
import type { Database } from '../../../src/db/database.ts';
import { StatementBatch } from '../../../src/db/pipeline/statement-batch.ts';

/** What goes to the server over the connections of a pool: for each round trip, the texts of its statements. */
export type RoundTrips = {
  all(): string[][];
  /** The round trips of each transaction, in the order in which they began. */
  transactions(): string[][][];
  stop(): void;
};

/** Counts from now on, on every connection that is lent from now on. */
export function countRoundTrips({ pool }: Database): RoundTrips {
  const trips: { client: pg.PoolClient; statements: string[] }[] = [];
  const stops: (() => void)[] = [];
  const watched = new WeakSet<object>();
  function watch(client: pg.PoolClient): void {
    if (watched.has(client)) return;
    watched.add(client);
    const { query } = client;
    client.query = ((...args: unknown[]) => {
      const [sent] = args;
      if (sent instanceof StatementBatch) {
        trips.push({ client, statements: sent.statements.map(({ text }) => text.trim()) });
      }
      return Reflect.apply(query, client, args);
    }) as typeof client.query;
    stops.push(() => {
      client.query = query;
    });
  }
  pool.on('acquire', watch);
  return {
    all: () => trips.map(({ statements }) => statements),
    transactions() {
      const open = new Map<pg.PoolClient, string[][]>();
      const all: string[][][] = [];
      for (const { client, statements } of trips) {
        if (statements[0] === 'begin') {
          const transaction: string[][] = [];
          open.set(client, transaction);
          all.push(transaction);
        }
        open.get(client)?.push(statements);
        if (statements.at(-1) === 'commit') open.delete(client);
      }
      return all;
    },
    stop() {
      pool.off('acquire', watch);
      for (const stop of stops) stop();
    },
  };
}
