import type { PhotoFiles } from './photo-files.ts';

/** The same storage, which counts the bytes of each file before it is written. */
export function countedFiles(files: PhotoFiles, count: (bytes: number) => Promise<void>): PhotoFiles {
  return {
    ...files,
    async write(photoId, name, bytes, signal) {
      await count(bytes.length);
      await files.write(photoId, name, bytes, signal);
    },
  };
}
