import type { RepeatedTask } from '../../concurrency/repeat.ts';
import type { Database } from '../../db/database.ts';
import { listen, notify } from '../../db/listen-notify.ts';

/**
 * Wake-ups between nodes. They are sent after the commit, outside its transaction, since a NOTIFY inside makes all commits
 * of the server wait for each other; and one at a time with a pause of 10 ms, which is what an event waits in a stream of
 * them: with 50 ms half of them waited 29 ms for their webhook, and the notices cost the server less than a hundredth of its
 * time either way. A lost one costs nothing but the time to the next poll.
 */
const CHANNEL = 'crownwheel_events';
const PAUSE_MS = 10;

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

/** Listens for wake-ups of other nodes. What was sent while nobody listened is found by looking. */
export function listenForWake(db: Database, onWake: () => void): RepeatedTask {
  return listen(db, CHANNEL, { onNotice: onWake, onListening: onWake });
}
