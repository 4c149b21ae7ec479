import sharp, { type Sharp } from 'sharp';
import { SemaphoreError } from '../../concurrency/limits/keyed-semaphore.ts';
import { createSemaphore } from '../../concurrency/limits/semaphore.ts';
import { DomainError } from '../../contract/domain-error.ts';
import {
  AVIF_PIXELS_LIMIT,
  BYTES_PER_MB,
  PHOTO_LIMIT_BYTES,
  PHOTO_PIXELS_LIMIT,
  PHOTO_STORED_PIXELS,
} from '../../contract/limits.ts';
import { type PhotoSize, UPLOADS, UPLOADS_AT_ONCE, withPhotoMemory } from './photo-memory.ts';
import { type PhotoFormat, SQUARE_SIDES_PX, type SquareName } from './photo-variants.ts';
import { FILE_BYTES_MAX } from './storage/photo-files.ts';

/** Photos of earlier releases were stored in full size and are still shown. */
const STORED_PIXELS_MAX = PHOTO_PIXELS_LIMIT;
/** WebP can't hold more on a side. */
const PHOTO_SIDE_MAX_PX = 16_383;

export type ReadyPhoto = { bytes: Buffer; format: PhotoFormat; width: number; height: number };

/** Longer than encoding the largest AVIF takes. */
const PICTURE_SECONDS_MAX = 120;

/** A person reads this; a job waits and tries again. */
export const TOO_MANY_UPLOADS = 'Too many photos are being uploaded at this moment. Try again in a minute.';
const uploads = createSemaphore({ limit: UPLOADS_AT_ONCE, waitingLimit: 0 });
sharp.concurrency(1);
// The cache of sharp serves repeated work on one picture. We process each picture once.
sharp.cache(false);

/**
 * What a dealer uploaded, made fit to be shown: turned upright, and decoded and encoded anew in its own format, so that
 * nothing travels along that is not the picture, such as the place where it was taken.
 */
export async function prepareUpload(bytes: Buffer): Promise<ReadyPhoto> {
  if (bytes.length === 0) throw refused('The file is empty.');
  if (bytes.length > PHOTO_LIMIT_BYTES)
    throw refused(`A photo may have at most ${PHOTO_LIMIT_BYTES / BYTES_PER_MB} MB.`);
  const format = sniff(bytes);
  return await asUpload(async () => {
    const size = await uploadSize(bytes, format);
    return await withPhotoMemory(UPLOADS, size, [format], () => encodeUpload(bytes, format, size));
  });
}

async function asUpload<Result>(work: () => Promise<Result>): Promise<Result> {
  return await uploads.run(work).catch((error: unknown) => {
    if (!(error instanceof SemaphoreError)) throw error;
    throw refused(TOO_MANY_UPLOADS);
  });
}

/** Reads the size from the head of the file, before anything is decoded. */
async function uploadSize(bytes: Buffer, format: PhotoFormat): Promise<PhotoSize> {
  const { width, height } = await sharp(bytes).metadata().catch(unreadable);
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

async function encodeUpload(bytes: Buffer, format: PhotoFormat, size: PhotoSize): Promise<ReadyPhoto> {
  // What is cut off or broken in the middle is refused; small faults that every viewer forgives are not.
  const picture = sharp(bytes, { autoOrient: true, failOn: 'error', limitInputPixels: PHOTO_PIXELS_LIMIT });
  const scale = Math.sqrt(PHOTO_STORED_PIXELS / (size.width * size.height));
  // By its longer side, since the picture may lie on the other one until it is turned upright.
  const side = Math.floor(Math.max(size.width, size.height) * scale);
  if (scale < 1) picture.resize(side, side, { fit: 'inside' });
  const { data, info } = await encodeOriginal(picture, format)
    .timeout({ seconds: PICTURE_SECONDS_MAX })
    .toBuffer({ resolveWithObject: true })
    .catch(unreadable);
  if (data.length > FILE_BYTES_MAX) throw refused('The photo is too large once it is decoded.');
  return { bytes: data, format, width: info.width, height: info.height };
}

/** Another format of a stored picture, or one of its square thumbnails. */
export async function renderPhoto(
  source: Buffer,
  wanted: { format: PhotoFormat; square: SquareName | null },
): Promise<Buffer> {
  const picture = sharp(source, { limitInputPixels: STORED_PIXELS_MAX });
  if (wanted.square !== null) {
    const side = SQUARE_SIDES_PX[wanted.square];
    picture.resize(side, side, { fit: 'cover', position: sharp.strategy.attention });
  }
  return await encode(picture, wanted.format).timeout({ seconds: PICTURE_SECONDS_MAX }).toBuffer();
}

/** A stored picture, turned by a quarter to the right. */
export async function rotateQuarter(bytes: Buffer, format: PhotoFormat, size: PhotoSize): Promise<ReadyPhoto> {
  const rotate = () =>
    encodeOriginal(sharp(bytes, { limitInputPixels: STORED_PIXELS_MAX }).rotate(90), format)
      .timeout({ seconds: PICTURE_SECONDS_MAX })
      .toBuffer({ resolveWithObject: true });
  const { data, info } = await asUpload(() => withPhotoMemory(UPLOADS, size, [format], rotate));
  return { bytes: data, format, width: info.width, height: info.height };
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

/** High quality, because all variants are made from the original. */
function encodeOriginal(picture: Sharp, format: PhotoFormat): Sharp {
  switch (format) {
    case 'jpeg':
      return picture.jpeg({ quality: 92, chromaSubsampling: '4:4:4', progressive: true });
    case 'png':
      return picture.png();
    case 'webp':
      return picture.webp({ quality: 92 });
    case 'avif':
      return picture.avif({ quality: 70, effort: AVIF_EFFORT });
  }
}

/** Of 24 megapixels, effort 1 takes 3 s, 2 takes 15 s and 3 takes 37 s, for files of the same size. */
const AVIF_EFFORT = 1;

function encode(picture: Sharp, format: PhotoFormat): Sharp {
  switch (format) {
    case 'jpeg':
      return picture.flatten({ background: '#ffffff' }).jpeg({ quality: 85, progressive: true });
    case 'png':
      return picture.png();
    case 'webp':
      return picture.webp({ quality: 82, effort: 2 });
    case 'avif':
      return picture.avif({ quality: 55, effort: AVIF_EFFORT });
  }
}

function unreadable(): never {
  throw refused('The photo cannot be read: the file is damaged.');
}

function refused(message: string): DomainError {
  return new DomainError('invalid_input', message, 'photo');
}
