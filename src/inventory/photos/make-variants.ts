import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createKeyedSemaphore } from '../../concurrency/limits/keyed-semaphore.ts';
import { createSingleFlight } from '../../concurrency/single-flight.ts';
import { BYTES_PER_MB } from '../../contract/limits.ts';
import type { Queryable } from '../../db/database.ts';
import { raiseStorageUsage } from '../../quota/storage-usage.ts';
import { PictureFault } from './conversion/picture-faults.ts';
import { renderPhoto } from './encode-photos.ts';
import {
  cpuLimitMs,
  VARIANTS_WAITING_MAX,
  VARIANTS_WAITING_MAX_PER_NETWORK,
  variantWeight,
  withVariantMemory,
} from './photo-memory.ts';
import type { FoundPhoto, Visitor } from './photo-reader.ts';
import type { PhotoFileName } from './photo-variants.ts';
import { FILE_BYTES_MAX, type FileStat, type PhotoFiles, readOriginal } from './storage/photo-files.ts';

/** What a visitor gets of a variant: its file, or the picture itself if it could not be kept. */
export type Made = 'kept' | Buffer;

/** Makes a variant and keeps it; null if the original is lost, or can't be converted. `original` is its file, and decides how long it waits. */
export type VariantMaker = (
  photo: FoundPhoto,
  file: PhotoFileName,
  original: FileStat,
  visitor: Visitor,
) => Promise<Made | null>;

/**
 * Originals are read before there is memory to convert them, since a storage that hangs must not hold the memory that uploads
 * wait for. So their bytes are limited while they wait, and those of one dealer leave the others half.
 */
const ORIGINALS_BYTES = 192 * BYTES_PER_MB;
const ORIGINALS_BYTES_PER_DEALER = ORIGINALS_BYTES / 2;
/** What a small one counts as: at most six are under way, three of them of one dealer. */
const ORIGINAL_LEAST_BYTES = 32 * BYTES_PER_MB;
/** What can't be converted costs its whole limit of time, and anybody may ask for it again and again. */
const IMPOSSIBLE_MAX = 10_000;
const IMPOSSIBLE_TTL_MS = 3_600_000;
/** With eight of one network, visitors who went away at once cost twice the CPU time and memory. */
const ORIGINALS_PER_NETWORK = 2;

export function createVariantMaker(
  db: Queryable,
  files: PhotoFiles,
  onFault: (error: unknown, message: string) => void,
  { waitMs, restMs }: { waitMs: number; restMs: number },
): VariantMaker {
  const makeOnce = createSingleFlight<Made | null>();
  const makeOnceForNetwork = createSingleFlight<Made | null>();
  const impossible = new LRUCache<string, true>({ max: IMPOSSIBLE_MAX, ttl: IMPOSSIBLE_TTL_MS });
  const networks = createKeyedSemaphore({
    total: VARIANTS_WAITING_MAX,
    perKey: ORIGINALS_PER_NETWORK,
    waitingTotal: VARIANTS_WAITING_MAX,
    waitingPerKey: VARIANTS_WAITING_MAX_PER_NETWORK,
  });
  const originals = createKeyedSemaphore({
    total: ORIGINALS_BYTES,
    perKey: ORIGINALS_BYTES_PER_DEALER,
    waitingTotal: VARIANTS_WAITING_MAX,
  });

  /** Nothing here waits for the storage while it holds memory for pictures. */
  async function make(photo: FoundPhoto, file: PhotoFileName, wait: Wait): Promise<Made | null> {
    const { photoId, storedFormat, format, square } = photo;
    // It may have been tried or made while this one waited.
    if (impossible.has(`${photoId}/${file}`)) return null;
    if ((await files.stat(photoId, file, wait.signal)) !== null) return 'kept';
    const source = await readOriginal(files, photoId, storedFormat, wait.signal);
    if (source === null) return null;
    const to = square === null ? format : storedFormat;
    const memoryBytes = variantWeight(photo, storedFormat, to);
    const options = { memoryBytes, cpuMs: cpuLimitMs(storedFormat, format), signal: wait.signal };
    const render = () => renderPhoto(source, photo, options);
    try {
      return await keep(photo, file, await withVariantMemory(photo.organizationId, memoryBytes, render, wait));
    } catch (error) {
      if (!(error instanceof PictureFault)) throw error;
      onFault(error, `${photoId}/${file} can't be made of its original`);
      impossible.set(`${photoId}/${file}`, true);
      return null;
    }
  }

  async function keep(photo: FoundPhoto, file: PhotoFileName, bytes: Buffer): Promise<Made> {
    try {
      // A small upload can have large variants, so they count as what its dealer stores.
      await db.query(raiseStorageUsage(photo.organizationId, bytes.length, null));
      await files.write(photo.photoId, file, bytes);
      return 'kept';
    } catch (error) {
      // A picture that can't be kept can still be shown.
      onFault(error, 'a photo could not be kept');
      return bytes;
    }
  }

  return async (photo, file, original, { network, signal }) => {
    const deadlineMs = performance.now() + waitMs;
    const weight = Math.max(original.size ?? FILE_BYTES_MAX, ORIGINAL_LEAST_BYTES);
    const name = `${photo.photoId}/${file}`;
    if (impossible.has(name)) return null;

    /**
     * The place of a visitor who went away stays taken until the work has ended, and for a moment more. Without that, visitors who
     * leave soon would have one original after the other read for nothing.
     */
    async function makeInPlace(left: AbortSignal): Promise<Made | null> {
      let own: Promise<unknown> = Promise.resolve();
      const start = (ended: AbortSignal) => {
        const wait = { deadlineMs, signal: ended };
        const made = originals.run(photo.organizationId, () => make(photo, file, wait), { ...wait, weight });
        own = made;
        return made;
      };
      try {
        return await makeOnce(name, start, { signal: left });
      } finally {
        if (left.aborted) {
          await own.catch(() => {});
          await sleep(restMs, undefined, { ref: false });
        }
      }
    }

    // Nobody joins a visitor who still waits behind others of another network: whoever asks for everything first would have all wait.
    return await makeOnceForNetwork(
      `${network} ${name}`,
      (left) => networks.run(network, () => makeInPlace(left), { deadlineMs, signal: left }),
      { signal },
    );
  };
}

type Wait = { deadlineMs: number; signal: AbortSignal };
