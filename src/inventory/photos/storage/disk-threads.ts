import { createKeyedSemaphore } from '../../../concurrency/limits/keyed-semaphore.ts';

/**
 * Node reads and writes files in threads that the whole process shares with compression and passwords. A disk that does not
 * answer, as a network disk may, keeps the thread that asks it, and nothing takes it back. So the files of photos wait here for
 * one of a few threads, and whatever the disk does, the others are left to everything else.
 *
 * A turn is one use of one thread after the other; it lasts until the disk has answered, also if nobody waits for it any more.
 */
const PHOTO_THREADS = 4;
/** Those who write leave one to visitors, and visitors one to those who write. */
const PHOTO_THREADS_PER_KIND = 3;

const threads = createKeyedSemaphore({
  total: PHOTO_THREADS,
  perKey: PHOTO_THREADS_PER_KIND,
  waitingTotal: Number.POSITIVE_INFINITY,
});

export function readingDisk<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  return threads.run('read', work, { signal });
}

export function writingDisk<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  return threads.run('write', work, { signal });
}

/** Whether a disk has not answered yet. */
export function isDiskAsked(): boolean {
  return threads.held() > 0;
}
