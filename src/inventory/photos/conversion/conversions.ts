import sharp, { type Sharp } from 'sharp';
import { PHOTO_PIXELS_LIMIT, PHOTO_STORED_PIXELS } from '../../../contract/limits.ts';
import { withoutMetadata } from '../file-formats/picture-head.ts';
import type { PhotoSize } from '../photo-memory.ts';
import { type PhotoFormat, SQUARE_SIDES_PX, type SquareName } from '../photo-variants.ts';
import type { Conversion, Converted } from './conversion-messages.ts';

/** Photos of earlier releases were stored in full size and are still shown. */
const STORED_PIXELS_MAX = PHOTO_PIXELS_LIMIT;
/** Of 24 megapixels, effort 1 takes 3 s, 2 takes 15 s and 3 takes 37 s, for files of the same size. */
const AVIF_EFFORT = 1;

sharp.concurrency(1);
// The cache of sharp serves repeated work on one picture. We process each picture once.
sharp.cache(false);

/** May change the bytes that it is given. */
export async function convert(conversion: Conversion, bytes: Buffer): Promise<Converted> {
  switch (conversion.kind) {
    case 'upload': {
      const { format, size } = conversion;
      return await result(encodeOriginal(upright(withoutMetadata(format, bytes), size), format));
    }
    case 'variant':
      return await result(encodeVariant(thumbnail(stored(bytes), conversion.square), conversion.format));
    case 'quarter turn':
      return await result(encodeOriginal(stored(bytes).rotate(90), conversion.format));
  }
}

async function result(picture: Sharp): Promise<Converted> {
  const { data, info } = await picture.toBuffer({ resolveWithObject: true });
  return { bytes: data, width: info.width, height: info.height };
}

function stored(bytes: Uint8Array): Sharp {
  return sharp(bytes, { limitInputPixels: STORED_PIXELS_MAX });
}

function upright(bytes: Uint8Array, { width, height }: PhotoSize): Sharp {
  // The memory was counted for so many pixels. What is cut off or broken in the middle is refused; small faults that every viewer
  // forgives are not.
  const picture = sharp(bytes, { autoOrient: true, failOn: 'error', limitInputPixels: width * height });
  const scale = Math.sqrt(PHOTO_STORED_PIXELS / (width * height));
  // By its longer side, since the picture may lie on the other one until it is turned upright.
  const side = Math.floor(Math.max(width, height) * scale);
  return scale < 1 ? picture.resize(side, side, { fit: 'inside' }) : picture;
}

function thumbnail(picture: Sharp, square: SquareName | null): Sharp {
  if (square === null) return picture;
  const side = SQUARE_SIDES_PX[square];
  return picture.resize(side, side, { fit: 'cover', position: sharp.strategy.attention });
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

function encodeVariant(picture: Sharp, format: PhotoFormat): Sharp {
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
