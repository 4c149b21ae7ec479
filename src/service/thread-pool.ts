/**
 * Node has four threads for files, compression and passwords. With more of them, what waits for a disk (`disk-threads.ts`) and
 * what needs a processor (`compression.ts`) each have their limit and leave some to the others.
 */
const THREADS = 12;

/** It must be called before anything uses a thread: they are counted then. */
export function enlargeThreadPool(): void {
  process.env.UV_THREADPOOL_SIZE = String(THREADS);
}
