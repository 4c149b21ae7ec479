import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { readingDisk } from './disk-threads.ts';

const PIECE_BYTES = 65_536;

/** The bytes of a file, each piece in its turn on the disk. The file is closed at the end, or when the stream is destroyed. */
export function fileStream(file: FileHandle): Readable {
  let lastPiece: Promise<void> = Promise.resolve();
  const stream = new Readable({
    highWaterMark: PIECE_BYTES,
    read() {
      lastPiece = readingDisk(() => file.read(Buffer.allocUnsafe(PIECE_BYTES))).then(
        ({ buffer, bytesRead }) => void stream.push(bytesRead === 0 ? null : buffer.subarray(0, bytesRead)),
        (error: Error) => void stream.destroy(error),
      );
    },
    destroy(error, done) {
      // Not waited for: a disk that does not answer may never end it.
      void lastPiece.then(() => readingDisk(() => file.close())).catch(() => {});
      done(error);
    },
  });
  return stream;
}
