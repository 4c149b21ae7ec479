import type pg from 'pg';
import { type RepeatedTask, repeat } from '../concurrency/repeat.ts';
import type { Database, Queryable } from './database.ts';
import { sql } from './sql.ts';

const RECONNECT_MS = 1_000;

/**
 * Sends notices to the listeners of a channel, in a transaction of their own: a NOTIFY inside a write would make all
 * commits of the server wait for each other. The commit of a notice waits for no disk, since nothing is lost with it
 * that a reader would not find in the tables. One that can't be sent is dropped.
 */
export async function notify(db: Queryable, channel: string, payloads: readonly string[]): Promise<void> {
  await db
    .query(sql`
      with without_flush as materialized (select set_config('synchronous_commit', 'off', true))
      select pg_notify(${channel}, payload) from without_flush, unnest(${payloads}::text[]) as payload`)
    .catch(() => {});
}

/**
 * Listens to a channel on a connection of its own, and connects again if it is lost. `onListening` is called each time that
 * it begins: what was sent before, or between two connections, is unknown.
 */
export function listen(
  db: Database,
  channel: string,
  { onNotice, onListening }: { onNotice: (payload: string) => void; onListening: (isFirstTry: boolean) => void },
): RepeatedTask {
  const stopping = new AbortController();
  let client: pg.Client | null = null;
  let isFirstTry = true;

  async function listenUntilLost(): Promise<void> {
    const isFirst = isFirstTry;
    isFirstTry = false;
    try {
      client = await db.connect();
      const ended = new Promise((resolve) => client?.once('end', resolve));
      client.on('notification', ({ payload }) => onNotice(payload ?? ''));
      await client.query(`listen ${channel}`);
      onListening(isFirst);
      // The stop may have come before there was anything to end.
      if (!stopping.signal.aborted) await ended;
    } finally {
      await client?.end().catch(() => {});
      client = null;
    }
  }

  const running = repeat({ signal: stopping.signal, onFault: () => {} }, listenUntilLost, RECONNECT_MS);
  return {
    async stop() {
      stopping.abort();
      await client?.end().catch(() => {});
      await running;
    },
  };
}
