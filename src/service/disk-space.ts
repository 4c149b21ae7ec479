import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import { startRepeating } from '../concurrency/repeat.ts';

/**
 * Whether the disk of the embedded database is nearly full. Then what people and sites store is refused, and everything else
 * goes on: a server without room for its log ends, and nobody can read either.
 */
export type DiskSpace = { isLow(): boolean; stop(): Promise<void> };

export type DiskSpaceOptions = {
  folder: string;
  /** What is kept free; 0 keeps nothing. */
  reserveBytes: number;
  log: Pick<Logger, 'error' | 'info' | 'warn'>;
};

const EVERY_MS = 2_000;

export async function watchDiskSpace({ folder, reserveBytes, log }: DiskSpaceOptions): Promise<DiskSpace> {
  if (reserveBytes === 0) return { isLow: () => false, stop: async () => {} };
  let isLow = false;
  async function look(): Promise<void> {
    const { bavail, bsize } = await statfs(folder);
    const freeBytes = bavail * bsize;
    const wasLow = isLow;
    isLow = freeBytes < reserveBytes;
    if (isLow && !wasLow) {
      log.error({ freeBytes, reserveBytes }, 'the disk is nearly full; what stores something is refused');
    }
    if (wasLow && !isLow) log.info({ freeBytes }, 'the disk has room again');
  }
  const onFault = (error: unknown) => log.warn({ err: error }, 'how much of the disk is free could not be read');
  await look().catch(onFault);
  const { stop } = startRepeating(look, { everyMs: EVERY_MS, onFault });
  return { isLow: () => isLow, stop };
}
