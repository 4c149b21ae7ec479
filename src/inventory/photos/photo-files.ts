import type { Readable } from 'node:stream';

/**
 * Where the files of photos lie: a folder, or a bucket. What stands under a photo's id never changes, so files are
 * written once, whole or not at all, and can be served and cached for ever.
 */
export type PhotoFiles = {
  write(photoId: string, name: PhotoFileName, bytes: Buffer): Promise<void>;
  /** Null if there is no such file. */
  read(photoId: string, name: PhotoFileName): Promise<Buffer | null>;
  open(photoId: string, name: PhotoFileName): Promise<OpenedFile | null>;
  /** Takes away all files of some photos; those that have none are passed over. */
  remove(photoIds: readonly string[]): Promise<void>;
  /** The ids of all photos that have files, in pages. */
  list(): AsyncIterable<string[]>;
  /** Throws if files cannot be kept there. */
  check(): Promise<void>;
};

export type OpenedFile = { stream: Readable; size: number };

export const PHOTO_EXTENSIONS = ['jpg', 'png', 'webp', 'avif'] as const;
export type PhotoExtension = (typeof PHOTO_EXTENSIONS)[number];

/** As it was stored, the whole picture in another format, or its square thumbnail. `svg` is a drawing of the demo. */
export type PhotoFileName = `original.${PhotoExtension | 'svg'}` | `${'full' | 'square'}.${PhotoExtension}`;

/** Each photo has a folder; the folders are spread over 1,024 by the end of the id, which is random. */
export function folderOf(photoId: string): string {
  return `${photoId.slice(-2)}/${photoId}`;
}
