import { availableParallelism } from 'node:os';
import {
  type AcquireOptions,
  createKeyedSemaphore,
  type SemaphoreKey,
} from '../../concurrency/limits/keyed-semaphore.ts';
import type { PhotoFormat } from './photo-variants.ts';

/** One thread for each picture, and half of the cores at most, never more than two: requests go before pictures. */
const PICTURES_AT_ONCE = Math.min(2, Math.max(1, Math.floor(availableParallelism() / 2)));
/**
 * How much memory pictures take together. One that needs more runs alone, so the largest that is accepted is what a node
 * has to have room for.
 */
const MEMORY_BYTES = 1_073_741_824;
/** What was seen beside the service itself, for the decoded picture and the encoder: 24 megapixels took 0.3 and 0.9 GB. */
const BYTES_PER_PIXEL: Record<PhotoFormat, number> = { jpeg: 13, png: 13, webp: 13, avif: 38 };

/** A request that waits for its original has read nothing yet; it costs a connection. */
export const VARIANTS_WAITING_MAX = 400;
/** Nobody has to say who they are to ask for one, so those of one network leave places to the others. */
export const VARIANTS_WAITING_MAX_PER_NETWORK = 100;
/** Photos that are uploaded, imported or turned. They are in memory while they wait; those who bring them limit their bytes, too. */
export const IN_PREPARATION_LIMIT = 64;
export const IN_PREPARATION_LIMIT_PER_DEALER = 8;

/**
 * Uploads and variants are served round-robin, so that a dealer need not wait behind a hundred visitors, and so are the
 * dealers who upload and the networks of the visitors.
 */
const memory = createKeyedSemaphore({
  total: MEMORY_BYTES,
  perKey: MEMORY_BYTES,
  waitingTotal: VARIANTS_WAITING_MAX + IN_PREPARATION_LIMIT,
  waitingPerKey: VARIANTS_WAITING_MAX_PER_NETWORK,
  waitingPerGroup: VARIANTS_WAITING_MAX,
});

/** Photos of one dealer that are uploaded, imported or turned. */
export function uploadsOf(dealer: string): SemaphoreKey {
  return { group: 'uploads', key: dealer };
}

/** Of the visitors of one network. */
export function variantsFor(network: string): SemaphoreKey {
  return { group: 'variants', key: network };
}

export type PhotoSize = { width: number; height: number };

/**
 * Runs work on a picture while there is memory for it. `formats` are those that it is decoded from and encoded to. Throws
 * a SemaphoreError if there is no room to wait, its time is up, or whoever asked has gone.
 */
export async function withPhotoMemory<Result>(
  key: SemaphoreKey,
  size: PhotoSize,
  formats: PhotoFormat[],
  work: () => Promise<Result>,
  options: Omit<AcquireOptions, 'weight'> = {},
): Promise<Result> {
  return await memory.run(key, work, { ...options, weight: photoWeight(size, formats) });
}

/** Bytes, but no less than the share of one of those that may run at once. */
export function photoWeight({ width, height }: PhotoSize, formats: PhotoFormat[], atOnce = PICTURES_AT_ONCE): number {
  const bytesPerPixel = Math.max(...formats.map((format) => BYTES_PER_PIXEL[format]));
  return Math.min(MEMORY_BYTES, Math.max(width * height * bytesPerPixel, MEMORY_BYTES / atOnce));
}
