import type pg from 'pg';
import { repeat } from '../../concurrency/repeat.ts';
import type { Database } from '../../db/database.ts';
import { notify } from '../../db/listen-notify.ts';

/**
 * Wake-ups between nodes. They are sent after the commit, outside its transaction, since a NOTIFY inside makes all commits
 * of the server wait for each other; and one at a time with a pause of 10 ms, which is what an event waits in a stream of
 * them: with 50 ms half of them waited 29 ms for their webhook, and the notices cost the server less than a hundredth of its
 * time either way. A lost one costs nothing but the time to the next poll.
 */
const CHANNEL = 'crownwheel_events';
const PAUSE_MS = 10;
const RECONNECT_MS = 1_000;

/** Notifies the other nodes of new deliveries: the first at once, those that follow it together. */
export function createNotifier(db: Database): () => void {
  let isPausing = false;
  let isWanted = false;
  async function send(): Promise<void> {
    isPausing = true;
    isWanted = false;
    await notify(db, CHANNEL, ['']);
    setTimeout(() => {
      isPausing = false;
      if (isWanted) void send();
    }, PAUSE_MS).unref();
  }
  return () => {
    if (isPausing) isWanted = true;
    else void send();
  };
}

export type WakeListener = { stop(): Promise<void> };

/** Listens for wake-ups of other nodes; a lost connection is made again. */
export function listenForWake(db: Database, onWake: () => void): WakeListener {
  const stopping = new AbortController();
  let client: pg.Client | null = null;

  async function listenOnce(): Promise<void> {
    client = await db.connect();
    const ended = new Promise((resolve) => client?.once('end', resolve));
    client.on('notification', onWake);
    await client.query(`listen ${CHANNEL}`);
    // What was sent while nobody listened is found by looking.
    onWake();
    // The stop may have come before there was anything to end.
    if (!stopping.signal.aborted) await ended;
  }

  async function listen(): Promise<void> {
    try {
      await listenOnce();
    } finally {
      await client?.end().catch(() => {});
      client = null;
    }
  }

  const running = repeat({ signal: stopping.signal, onFault: () => {} }, listen, RECONNECT_MS);
  return {
    async stop() {
      stopping.abort();
      await client?.end().catch(() => {});
      await running;
    },
  };
}
