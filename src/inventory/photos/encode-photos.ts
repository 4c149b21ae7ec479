import { SemaphoreError } from '../../concurrency/limits/keyed-semaphore.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { AVIF_PIXELS_LIMIT, BYTES_PER_MB, PHOTO_LIMIT_BYTES, PHOTO_PIXELS_LIMIT } from '../../contract/limits.ts';
import { type ConversionOptions, convertPhoto } from './conversion/converter.ts';
import { PictureFault, PictureTooComplexError } from './conversion/picture-faults.ts';
import { type PictureHead, readPictureHead } from './file-formats/picture-head.ts';
import {
  cpuLimitMs,
  type MemoryWait,
  type PhotoSize,
  PICTURE_MEMORY_BYTES,
  uploadWeight,
  variantWeight,
  withUploadMemory,
} from './photo-memory.ts';
import type { PhotoFormat, SquareName } from './photo-variants.ts';
import { FILE_BYTES_MAX } from './storage/photo-files.ts';

/** WebP can't hold more on a side. */
const PHOTO_SIDE_MAX_PX = 16_383;
const TOO_COMPLEX =
  'This photo takes too much memory or time to decode. Save it as an ordinary JPEG, or make it smaller, and upload that.';
const DAMAGED = 'The photo cannot be read: the file is damaged.';

export type ReadyPhoto = { bytes: Buffer; format: PhotoFormat; width: number; height: number };

/** No room for another photo, or none in time. A person reads the message; a job waits and tries again. */
export class TooManyUploadsError extends Error {
  override readonly name = 'TooManyUploadsError';

  constructor(cause: SemaphoreError) {
    super('Too many photos are being uploaded at this moment. Try again in a minute.', { cause });
  }
}

export type UploadWait = {
  /** How long a photo waits for memory to be converted. */
  waitMs?: number | undefined;
  /** Ends the wait when whoever uploads has gone. */
  signal?: AbortSignal | undefined;
};

/**
 * It holds its bytes and a slot for uploads meanwhile. With the wait for that slot it is less than the minute after which proxies
 * give up a request.
 */
const MEMORY_WAIT_MS = 20_000;

/**
 * What a dealer uploaded, made fit to be shown: turned upright, and decoded and encoded anew in its own format, so that
 * nothing travels along that is not the picture, such as the place where it was taken. The bytes move to another thread once there
 * is memory for them: the caller has them no longer.
 */
export async function prepareUpload(dealer: string, bytes: Buffer, wait: UploadWait = {}): Promise<ReadyPhoto> {
  if (bytes.length === 0) throw refused('The file is empty.');
  if (bytes.length > PHOTO_LIMIT_BYTES)
    throw refused(`A photo may have at most ${PHOTO_LIMIT_BYTES / BYTES_PER_MB} MB.`);
  const format = sniff(bytes);
  const head = uploadHead(bytes, format);
  const memoryBytes = uploadWeight(head, format);
  if (memoryBytes > PICTURE_MEMORY_BYTES) throw refused(TOO_COMPLEX);
  return await asUpload(async () => {
    const encode = () => encodeUpload(bytes, format, head, memoryBytes, wait.signal);
    return await withUploadMemory(dealer, memoryBytes, encode, memoryWait(wait));
  });
}

function memoryWait({ waitMs = MEMORY_WAIT_MS, signal }: UploadWait): MemoryWait {
  return { deadlineMs: performance.now() + waitMs, signal };
}

async function asUpload<Result>(work: () => Promise<Result>): Promise<Result> {
  return await work().catch((error: unknown) => {
    throw error instanceof SemaphoreError ? new TooManyUploadsError(error) : error;
  });
}

/** Reads the size from the head of the file, before anything is decoded. */
function uploadHead(bytes: Buffer, format: PhotoFormat): PictureHead {
  const head = readPictureHead(format, bytes);
  if (head === null) throw refused(DAMAGED);
  const { width, height } = head;
  const limit = format === 'avif' ? AVIF_PIXELS_LIMIT : PHOTO_PIXELS_LIMIT;
  if (width * height > limit) {
    const name = format === 'avif' ? 'An AVIF photo' : 'A photo';
    throw refused(`${name} may have at most ${limit / 1_000_000} megapixels.`);
  }
  if (Math.max(width, height) > PHOTO_SIDE_MAX_PX) {
    throw refused(`A photo may have at most ${PHOTO_SIDE_MAX_PX} pixels on a side.`);
  }
  return head;
}

async function encodeUpload(
  upload: Buffer,
  format: PhotoFormat,
  { width, height }: PhotoSize,
  memoryBytes: number,
  signal: AbortSignal | undefined,
): Promise<ReadyPhoto> {
  const options = { memoryBytes, cpuMs: cpuLimitMs(format), signal };
  const conversion = { kind: 'upload', format, size: { width, height } } as const;
  const converted = await convertPhoto(conversion, upload, options).catch((error: unknown) =>
    unreadable(error, signal),
  );
  if (converted.bytes.length > FILE_BYTES_MAX) throw refused('The photo is too large once it is decoded.');
  return { ...converted, format };
}

/** Another format of a stored picture, or one of its square thumbnails. */
export async function renderPhoto(
  source: Buffer,
  { format, square }: { format: PhotoFormat; square: SquareName | null },
  options: ConversionOptions,
): Promise<Buffer> {
  return (await convertPhoto({ kind: 'variant', format, square }, source, options)).bytes;
}

/** A stored picture, turned by a quarter to the right. */
export async function rotateQuarter(
  dealer: string,
  bytes: Buffer,
  { format, ...size }: PhotoSize & { format: PhotoFormat },
  wait: UploadWait = {},
): Promise<ReadyPhoto> {
  const memoryBytes = variantWeight(size, format, format);
  const options = { memoryBytes, cpuMs: cpuLimitMs(format), signal: wait.signal };
  const rotate = () =>
    convertPhoto({ kind: 'quarter turn', format }, bytes, options).catch((error: unknown) =>
      unreadable(error, wait.signal),
    );
  const turned = await asUpload(() => withUploadMemory(dealer, memoryBytes, rotate, memoryWait(wait)));
  return { ...turned, format };
}

/** By its first bytes, so that nothing but these four formats ever reaches a decoder. */
function sniff(bytes: Buffer): PhotoFormat {
  const text = bytes.toString('latin1', 0, 32);
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'webp';
  if (text.slice(4, 8) === 'ftyp') {
    const brands = text.slice(8);
    if (/avi[fs]/.test(brands)) return 'avif';
    if (/hei[cxsm]|hev[cx]|mif1/.test(brands)) {
      throw refused('This is an HEIC photo, which cannot be read here. Save it as JPEG and upload that.');
    }
  }
  throw refused('This is not a photo in one of the formats JPEG, PNG, WebP or AVIF.');
}

function unreadable(error: unknown, signal: AbortSignal | undefined): never {
  signal?.throwIfAborted();
  if (error instanceof PictureTooComplexError) throw refused(TOO_COMPLEX);
  if (error instanceof PictureFault) throw refused(DAMAGED);
  throw refused('The photo could not be converted. Try again, or upload another one.');
}

function refused(message: string): DomainError {
  return new DomainError('invalid_input', message, 'photo');
}
