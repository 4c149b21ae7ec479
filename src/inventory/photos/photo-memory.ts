import { availableParallelism } from 'node:os';
import { createKeyedSemaphore, type KeyedSemaphore } from '../../concurrency/limits/keyed-semaphore.ts';
import { PHOTO_STORED_PIXELS } from '../../contract/limits.ts';
import type { PictureHead } from './file-formats/picture-head.ts';
import type { PhotoFormat } from './photo-variants.ts';

const MEBIBYTE = 1_048_576;

/** Requests go before pictures: those of one dealer take half of the cores at most, never more than two. */
const VARIANTS_AT_ONCE_PER_DEALER = Math.min(2, Math.max(1, Math.floor(availableParallelism() / 2)));
const UPLOADS_AT_ONCE_PER_DEALER = 1;
/** How much memory one picture may take: a node has to have room for it. */
export const PICTURE_MEMORY_BYTES = 1_024 * MEBIBYTE;
/** Beside the largest picture there is room for an ordinary one of another dealer. */
const LANE_MEMORY_BYTES = 1_536 * MEBIBYTE;
/**
 * What was seen beside the process itself for each pixel that is encoded, and what a decoder needs for each pixel that it reads
 * when they come line by line.
 */
const ENCODED_PIXEL_BYTES: Record<PhotoFormat, number> = { jpeg: 13, png: 13, webp: 13, avif: 38 };
const READ_PIXEL_BYTES: Record<PhotoFormat, number> = { jpeg: 1, png: 1, webp: 1, avif: 2 };
/** Of what we have stored ourselves: a progressive JPEG with three components as dense as each other, and a WebP. */
const STORED_PIXEL_BYTES: Record<PhotoFormat, number> = { jpeg: 6, png: 0, webp: 4, avif: 0 };

/** A request that waits for its original has read nothing yet; it costs a connection. */
export const VARIANTS_WAITING_MAX = 400;
/** Nobody has to say who they are to ask for one, so those of one network leave places to the others. */
export const VARIANTS_WAITING_MAX_PER_NETWORK = 100;
/** Photos that are uploaded, imported or turned. They are in memory while they wait; those who bring them limit their bytes, too. */
const UPLOADS_WAITING_MAX = 64;
export const UPLOADS_WAITING_MAX_PER_DEALER = 8;

/**
 * Uploads and variants have lanes of their own, so that neither waits for the other. Dealers are served round-robin in both, and
 * there is always one more picture than a dealer may have: an AVIF can take half a minute, and the thumbnails of all others would wait
 * for it in vain.
 */
type Lane = { turns: KeyedSemaphore; memory: KeyedSemaphore };

function createLane(perDealer: number, waiting: { waitingTotal: number; waitingPerKey?: number }): Lane {
  const atOnce = perDealer + 1;
  return {
    turns: createKeyedSemaphore({ total: atOnce, perKey: perDealer, ...waiting }),
    memory: createKeyedSemaphore({ total: LANE_MEMORY_BYTES, perKey: PICTURE_MEMORY_BYTES, waitingTotal: atOnce }),
  };
}

const uploads = createLane(UPLOADS_AT_ONCE_PER_DEALER, {
  waitingTotal: UPLOADS_WAITING_MAX,
  waitingPerKey: UPLOADS_WAITING_MAX_PER_DEALER,
});
const variants = createLane(VARIANTS_AT_ONCE_PER_DEALER, { waitingTotal: VARIANTS_WAITING_MAX });

export type PhotoSize = { width: number; height: number };
export type MemoryWait = {
  /** A moment of performance.now(). */
  deadlineMs?: number;
  signal?: AbortSignal | undefined;
};

/**
 * Runs work on a photo that a dealer uploads, imports or turns, when it is the dealer's turn and there is memory for it. Throws a
 * SemaphoreError if there is no room to wait, its time is up, or whoever asked has gone.
 */
export async function withUploadMemory<Result>(
  dealer: string,
  weight: number,
  work: () => Promise<Result>,
  wait: MemoryWait = {},
): Promise<Result> {
  return await inLane(uploads, dealer, weight, work, wait);
}

/** The same for a variant that a visitor waits for; the dealer is the one whose photo it is. */
export async function withVariantMemory<Result>(
  dealer: string,
  weight: number,
  work: () => Promise<Result>,
  wait: MemoryWait = {},
): Promise<Result> {
  return await inLane(variants, dealer, weight, work, wait);
}

async function inLane<Result>(
  { turns, memory }: Lane,
  dealer: string,
  weight: number,
  work: () => Promise<Result>,
  wait: MemoryWait,
): Promise<Result> {
  return await turns.run(dealer, () => memory.run(dealer, work, { ...wait, weight }), wait);
}

/** The bytes that an upload takes until it is made anew in its own format. */
export function uploadWeight({ width, height, wholeBytes }: PictureHead, format: PhotoFormat): number {
  const pixels = width * height;
  const encodedPixels = Math.min(pixels, PHOTO_STORED_PIXELS);
  return encodedPixels * ENCODED_PIXEL_BYTES[format] + pixels * READ_PIXEL_BYTES[format] + wholeBytes;
}

/** The bytes that a stored photo takes until it is made into another format. */
export function variantWeight({ width, height }: PhotoSize, from: PhotoFormat, to: PhotoFormat): number {
  const pixelBytes = Math.max(ENCODED_PIXEL_BYTES[from], ENCODED_PIXEL_BYTES[to]) + STORED_PIXEL_BYTES[from];
  return width * height * pixelBytes;
}

/** Encoding AVIF of 24 megapixels took 21 s of a busy core, that of an upload of 50 megapixels 31 s; all else takes 6 s. */
export function cpuLimitMs(...formats: PhotoFormat[]): number {
  return formats.includes('avif') ? 60_000 : 20_000;
}
