import { finished, Readable } from 'node:stream';
import { PhotoStorageError, storageError } from './photo-storage-error.ts';

/**
 * The same bytes, which fail if the storage sends none for so long. Only the time in which somebody waits for them counts: a
 * client that reads slowly is cut elsewhere, and is no fault of the storage.
 */
export function withIdleLimit(source: Readable, idleMs: number): Readable {
  let timer: NodeJS.Timeout | undefined;
  const limited = new Readable({
    read() {
      clearTimeout(timer);
      timer = setTimeout(() => limited.destroy(stalled(idleMs)), idleMs);
      source.resume();
    },
    destroy(error, done) {
      clearTimeout(timer);
      source.destroy();
      done(error);
    },
  });
  source.on('data', (chunk: Buffer) => {
    clearTimeout(timer);
    if (!limited.push(chunk)) source.pause();
  });
  // Nothing flows before somebody reads.
  source.pause();
  finished(source, (error) => {
    clearTimeout(timer);
    if (limited.destroyed) return;
    if (error) limited.destroy(storageError(error));
    else limited.push(null);
  });
  return limited;
}

function stalled(idleMs: number): PhotoStorageError {
  return new PhotoStorageError(`the storage of photos stopped sending for ${idleMs} ms`, { isTemporary: true });
}
