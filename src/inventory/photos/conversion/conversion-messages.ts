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

/** What the process may have in memory, all in all, and how much of the processor one picture may take. */
export type ConversionLimits = { residentBytes: number; cpuMs: number };

/** What the service asks for. The next job is sent when this one is answered. */
export type Job = { conversion: Conversion; limits: ConversionLimits };
/** The size of the picture, or what is wrong with it, or that it took too much. The process takes no job after the last one. */
export type Answer = { size?: PhotoSize; fault?: string; isTooMuch?: boolean; isLast?: boolean };
