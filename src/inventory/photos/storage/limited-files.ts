import { withIdleLimit } from './idle-limit.ts';
import type { PhotoFiles } from './photo-files.ts';
import { PhotoStorageError, storageError } from './photo-storage-error.ts';

export type StorageLimits = {
  /** For one question: whether there is a file, the beginning of one, a page of a list, the files of one photo to remove. */
  answerMs: number;
  /** For a file that is read whole. */
  readMs: number;
  /** For a file that is written, and how much longer it may take by its size. */
  writeMs: number;
  writeBytesPerSecond: number;
  /** Between two pieces of a file that is being sent. */
  idleMs: number;
};

const LIMITS: StorageLimits = {
  answerMs: 10_000,
  readMs: 60_000,
  // An upload waits 30 seconds for a slot: those who hold the slots of a storage that hangs have to be gone by then.
  writeMs: 20_000,
  writeBytesPerSecond: 262_144,
  idleMs: 10_000,
};

/**
 * The same storage, in which everything ends: whatever a folder on the network or the client of S3 does, whoever waits gets the
 * result or a PhotoStorageError in time, and what is left of the work is aborted. So no slot is held for ever.
 */
export function limitedFiles(files: PhotoFiles, given: Partial<StorageLimits> = {}): PhotoFiles {
  const { answerMs, readMs, writeMs, writeBytesPerSecond, idleMs } = { ...LIMITS, ...given };
  return {
    async write(photoId, name, bytes, signal) {
      const ms = writeMs + (bytes.length / writeBytesPerSecond) * 1_000;
      await within(ms, signal, (ending) => files.write(photoId, name, bytes, ending));
    },
    read: (photoId, name, signal) => within(readMs, signal, (ending) => files.read(photoId, name, ending)),
    async open(photoId, name, signal) {
      const opened = await within(
        answerMs,
        signal,
        (ending) => files.open(photoId, name, ending),
        (late) => late?.stream.destroy(),
      );
      return opened && { ...opened, stream: withIdleLimit(opened.stream, idleMs) };
    },
    stat: (photoId, name, signal) => within(answerMs, signal, (ending) => files.stat(photoId, name, ending)),
    async remove(photoIds) {
      for (const id of photoIds) await within(answerMs, undefined, (ending) => files.remove([id], ending));
    },
    async *list() {
      const leaving = new AbortController();
      const pages = files.list(leaving.signal)[Symbol.asyncIterator]();
      try {
        for (;;) {
          const page = await within(answerMs, undefined, () => pages.next());
          if (page.done) return;
          yield page.value;
        }
      } finally {
        leaving.abort();
      }
    },
    check: () => within(answerMs, undefined, (ending) => files.check(ending)),
    readMarker: () => within(answerMs, undefined, (ending) => files.readMarker(ending)),
    writeMarker: (text, mode) => within(answerMs, undefined, (ending) => files.writeMarker(text, mode, ending)),
  };
}

/** The result of some work, if it comes in time and before the caller leaves; `discard` gets one that comes later. */
function within<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (ending: AbortSignal) => Promise<Result>,
  discard: (late: Result) => void = () => {},
): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const ending = new AbortController();
    let isOver = false;
    function finish(act: () => void): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
      act();
    }
    function giveUp(reason: unknown): void {
      finish(() => reject(reason));
      ending.abort(reason);
    }
    const leave = () => giveUp(signal?.reason);
    const timer = setTimeout(() => giveUp(late(ms)), ms);
    signal?.addEventListener('abort', leave);
    if (signal?.aborted) return leave();
    work(ending.signal).then(
      (result) => (isOver ? discard(result) : finish(() => resolve(result))),
      (error: unknown) => finish(() => reject(storageError(error))),
    );
    return undefined;
  });
}

function late(ms: number): PhotoStorageError {
  const message = `the storage of photos did not answer within ${Math.round(ms)} ms`;
  return new PhotoStorageError(message, { isTemporary: true });
}
