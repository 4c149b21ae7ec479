import { setTimeout as sleep } from 'node:timers/promises';
import { isDiskAsked } from '../../inventory/photos/storage/disk-threads.ts';

export const PATIENCE_MS = 2_000;
const LOOK_AGAIN_MS = 50;

/**
 * Ends the process, whose work is done. An exit waits for the threads that read files, and one that asks a disk which does not
 * answer never ends.
 */
export async function endProcess(): Promise<void> {
  const untilMs = performance.now() + PATIENCE_MS;
  while (isDiskAsked()) {
    if (performance.now() > untilMs) {
      console.error('crownwheel: the disk with the photos does not answer; the process ends without waiting for it.');
      process.kill(process.pid, 'SIGKILL');
    }
    await sleep(LOOK_AGAIN_MS);
  }
  process.exit();
}
