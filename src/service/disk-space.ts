import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';

/**
 * Whether the disk of the embedded database is nearly full. Then what people and sites store is refused, and everything else
 * goes on: a server without room for its log ends, and nobody can read either.
 */
export type DiskSpace = { isLow(): boolean; stop(): void };

export type DiskSpaceOptions = {
  folder: string;
  /** What is kept free; 0 keeps nothing. */
  reserveBytes: number;
  log: Pick<Logger, 'error' | 'info' | 'warn'>;
  everyMs?: number;
};

const EVERY_MS = 2_000;

export async function watchDiskSpace({
  folder,
  reserveBytes,
  log,
  everyMs = EVERY_MS,
}: DiskSpaceOptions): Promise<DiskSpace> {
  let isLow = false;
  async function look(): Promise<void> {
    const freeBytes = await freeBytesOf(folder).catch((error: unknown) => {
      log.warn({ err: error }, 'how much of the disk is free could not be read');
      return null;
    });
    if (freeBytes === null) return;
    const wasLow = isLow;
    isLow = freeBytes < reserveBytes;
    if (isLow && !wasLow)
      log.error({ freeBytes, reserveBytes }, 'the disk is nearly full; what stores something is refused');
    if (wasLow && !isLow) log.info({ freeBytes }, 'the disk has room again');
  }
  if (reserveBytes === 0) return { isLow: () => false, stop: () => {} };
  await look();
  const timer = setInterval(() => void look(), everyMs).unref();
  return { isLow: () => isLow, stop: () => clearInterval(timer) };
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
