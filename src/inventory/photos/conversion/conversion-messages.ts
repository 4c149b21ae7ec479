import type { PhotoSize } from '../photo-memory.ts';
import type { PhotoFormat, SquareName } from '../photo-variants.ts';

/** What the process of pictures can do with one. */
export type Conversion =
  /**
   * Turned upright, no larger than what is stored, and decoded and encoded anew in its own format, so that nothing travels
   * along that is not the picture, such as the place where it was taken.
   */
  | { kind: 'upload'; format: PhotoFormat; size: PhotoSize }
  /** Another format of a stored picture, or one of its square thumbnails. */
  | { kind: 'variant'; format: PhotoFormat; square: SquareName | null }
  /** A stored picture, turned by a quarter to the right. */
  | { kind: 'quarter turn'; format: PhotoFormat };

/** A picture and its size. */
export type Converted = PhotoSize & { bytes: Buffer };

/** Longer than encoding the largest AVIF takes. */
export const PICTURE_SECONDS_MAX = 120;

/** What the service asks for, and what it is answered: the size of the picture, or what is wrong with it. */
export type Job = { id: number; conversion: Conversion };
export type Answer = { id: number; size?: PhotoSize; fault?: string };
