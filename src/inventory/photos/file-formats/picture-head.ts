import type { PhotoFormat } from '../photo-variants.ts';
import { readAvifHead, withoutAvifMetadata } from './avif.ts';
import { readJpegHead, withoutJpegMetadata } from './jpeg.ts';
import { readPngHead, withoutPngMetadata } from './png.ts';
import { readWebpHead, withoutWebpMetadata } from './webp.ts';

/** What a file says of its picture before anything is decoded. */
export type PictureHead = {
  width: number;
  height: number;
  /** What its decoder keeps of the whole picture at once, because its lines do not come one after the other. */
  wholeBytes: number;
};

/** A profile of colours, or the data of a camera, has some kilobytes. */
export const METADATA_BYTES_MAX = 4 * 1_048_576;

const READERS = { png: readPngHead, jpeg: readJpegHead, webp: readWebpHead, avif: readAvifHead };
const CLEANERS = {
  png: withoutPngMetadata,
  jpeg: withoutJpegMetadata,
  webp: withoutWebpMetadata,
  avif: withoutAvifMetadata,
};

/** Null if the file is damaged. It is read by hand and in one pass: libvips unpacks all texts of a file first. */
export function readPictureHead(format: PhotoFormat, bytes: Buffer): PictureHead | null {
  const head = READERS[format](bytes);
  return head === null || head.width === 0 || head.height === 0 ? null : head;
}

/**
 * The same picture with nothing beside it but its colours and its orientation, in the same memory. A PNG of 7 MB whose 900 texts
 * unpack to 8 MB each took 2.7 GB: libvips keeps all of them, however small the picture is.
 */
export function withoutMetadata(format: PhotoFormat, bytes: Buffer): Buffer {
  return CLEANERS[format](bytes);
}
