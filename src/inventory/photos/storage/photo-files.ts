import type { Readable } from 'node:stream';
import { originalNames, type PhotoFileName, type PhotoFormat } from '../photo-variants.ts';

/**
 * Where the files of photos lie: a folder, or a bucket. What stands under a photo's id never changes, so files are
 * written once, whole or not at all, and can be served and cached for ever. A signal ends the work early where that is
 * possible; that everything ends in time is up to `limitedFiles`.
 */
export type PhotoFiles = {
  write(photoId: string, name: PhotoFileName, bytes: Buffer, signal?: AbortSignal): Promise<void>;
  /** Null if there is no such file; throws for one that is larger than any photo can be. */
  read(photoId: string, name: PhotoFileName, signal?: AbortSignal): Promise<Buffer | null>;
  /** For visitors: with a bucket, by other connections than those that the service itself reads and writes by. */
  open(photoId: string, name: PhotoFileName, signal?: AbortSignal): Promise<OpenedFile | null>;
  /** Whether there is such a file and how large it is, without reading it. */
  stat(photoId: string, name: PhotoFileName, signal?: AbortSignal): Promise<FileStat | null>;
  /** Takes away all files of some photos; those that have none are passed over. */
  remove(photoIds: readonly string[], signal?: AbortSignal): Promise<void>;
  /** The ids of all photos that have files, in pages. */
  list(signal?: AbortSignal): AsyncIterable<string[]>;
  /** Throws if files cannot be kept there. */
  check(signal?: AbortSignal): Promise<void>;
  /** The text that says whose storage it is; null if there is none. */
  readMarker(signal?: AbortSignal): Promise<string | null>;
  /** Never replaces a marker that is there: false if there was one. */
  writeMarker(text: string, mode: 'new' | 'replace', signal?: AbortSignal): Promise<boolean>;
};

/** Null where a storage does not say how large the file is. */
export type FileStat = { size: number | null };
export type OpenedFile = FileStat & { stream: Readable };

/** No original and no variant of it is larger: an upload has at most 25 MB, and is stored again in its own format. */
export const FILE_BYTES_MAX = 100 * 1_048_576;

/** The name of the marker. It is in the root of the storage, where no photo can have a file. */
export const MARKER_NAME = 'crownwheel-installation.json';
/** More bytes than a marker has. */
export const MARKER_BYTES_MAX = 4_096;

/** Null if its file is lost. */
export async function readOriginal(
  files: PhotoFiles,
  photoId: string,
  format: PhotoFormat,
  signal?: AbortSignal,
): Promise<Buffer | null> {
  const [original, drawing] = originalNames(format);
  return (await files.read(photoId, original, signal)) ?? (await files.read(photoId, drawing, signal));
}

/** The same without reading it. */
export async function statOriginal(
  files: PhotoFiles,
  photoId: string,
  format: PhotoFormat,
  signal?: AbortSignal,
): Promise<FileStat | null> {
  const [original, drawing] = originalNames(format);
  return (await files.stat(photoId, original, signal)) ?? (await files.stat(photoId, drawing, signal));
}

/** Each photo has a folder; the folders are spread over 1,024 by the end of the id, which is random. */
export function folderOf(photoId: string): string {
  return `${photoId.slice(-2)}/${photoId}`;
}
