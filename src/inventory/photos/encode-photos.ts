import { createKeyedSemaphore, SemaphoreError } from '../../concurrency/limits/keyed-semaphore.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { AVIF_PIXELS_LIMIT, BYTES_PER_MB, PHOTO_LIMIT_BYTES, PHOTO_PIXELS_LIMIT } from '../../contract/limits.ts';
import { convertPhoto, PictureFault } from './conversion/converter.ts';
import { readPictureHead } from './file-formats/picture-head.ts';
import {
  IN_PREPARATION_LIMIT,
  IN_PREPARATION_LIMIT_PER_DEALER,
  type PhotoSize,
  uploadsOf,
  withPhotoMemory,
} from './photo-memory.ts';
import type { PhotoFormat, SquareName } from './photo-variants.ts';
import { FILE_BYTES_MAX } from './storage/photo-files.ts';

/** WebP can't hold more on a side. */
const PHOTO_SIDE_MAX_PX = 16_383;
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

/** It holds its bytes and a slot for uploads meanwhile. */
const MEMORY_WAIT_MS = 60_000;

const uploads = createKeyedSemaphore({
  total: IN_PREPARATION_LIMIT,
  perKey: IN_PREPARATION_LIMIT_PER_DEALER,
  waitingTotal: 0,
});

/**
 * What a dealer uploaded, made fit to be shown: turned upright, and decoded and encoded anew in its own format, so that
 * nothing travels along that is not the picture, such as the place where it was taken.
 */
export async function prepareUpload(dealer: string, bytes: Buffer, wait: UploadWait = {}): Promise<ReadyPhoto> {
  if (bytes.length === 0) throw refused('The file is empty.');
  if (bytes.length > PHOTO_LIMIT_BYTES)
    throw refused(`A photo may have at most ${PHOTO_LIMIT_BYTES / BYTES_PER_MB} MB.`);
  const format = sniff(bytes);
  return await asUpload(dealer, async () => {
    const size = uploadSize(bytes, format);
    const encode = () => encodeUpload(bytes, format, size);
    return await withPhotoMemory(uploadsOf(dealer), size, [format], encode, memoryWait(wait));
  });
}

function memoryWait({ waitMs = MEMORY_WAIT_MS, signal }: UploadWait): { deadlineMs: number; signal?: AbortSignal } {
  return { deadlineMs: performance.now() + waitMs, ...(signal === undefined ? {} : { signal }) };
}

async function asUpload<Result>(dealer: string, work: () => Promise<Result>): Promise<Result> {
  return await uploads.run(dealer, work).catch((error: unknown) => {
    throw error instanceof SemaphoreError ? new TooManyUploadsError(error) : error;
  });
}

/** Reads the size from the head of the file, before anything is decoded. */
function uploadSize(bytes: Buffer, format: PhotoFormat): PhotoSize {
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
  return { width, height };
}

async function encodeUpload(upload: Buffer, format: PhotoFormat, size: PhotoSize): Promise<ReadyPhoto> {
  const converted = await convertPhoto({ kind: 'upload', format, size }, upload).catch(unreadable);
  if (converted.bytes.length > FILE_BYTES_MAX) throw refused('The photo is too large once it is decoded.');
  return { ...converted, format };
}

/** Another format of a stored picture, or one of its square thumbnails. */
export async function renderPhoto(
  source: Buffer,
  { format, square }: { format: PhotoFormat; square: SquareName | null },
): Promise<Buffer> {
  return (await convertPhoto({ kind: 'variant', format, square }, source)).bytes;
}

/** A stored picture, turned by a quarter to the right. */
export async function rotateQuarter(
  dealer: string,
  bytes: Buffer,
  { format, ...size }: PhotoSize & { format: PhotoFormat },
  wait: UploadWait = {},
): Promise<ReadyPhoto> {
  const rotate = () => convertPhoto({ kind: 'quarter turn', format }, bytes);
  const turned = await asUpload(dealer, () =>
    withPhotoMemory(uploadsOf(dealer), size, [format], rotate, memoryWait(wait)),
  );
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

function unreadable(error: unknown): never {
  if (error instanceof PictureFault) throw refused(DAMAGED);
  throw refused('The photo could not be converted. Try again, or upload another one.');
}

function refused(message: string): DomainError {
  return new DomainError('invalid_input', message, 'photo');
}
