import { Worker } from 'node:worker_threads';
import { ownBytes } from '../../../concurrency/own-bytes.ts';
import type { PhotoSize } from '../photo-memory.ts';
import type { Conversion, Converted } from './conversion-messages.ts';
import { PictureFault, PictureTooComplexError } from './picture-faults.ts';

export type ConversionOptions = {
  /** What the picture was counted for, without its file. */
  memoryBytes: number;
  cpuMs: number;
  /** Ends the work when nobody wants the picture any more. */
  signal?: AbortSignal | undefined;
};

export type ThreadWork = { id: number; conversion: Conversion; bytes: Uint8Array; memoryBytes: number; cpuMs: number };
export type ThreadMessage = ThreadWork | { id: number; isLeft: true };
export type ThreadAnswer =
  | { id: number; size: PhotoSize; bytes: Uint8Array<ArrayBuffer> }
  | { id: number; fault: 'too complex' | 'picture' | 'process'; message: string };

type Pending = { resolve(converted: Converted): void; reject(error: Error): void };
type ConversionThread = { worker: Worker; pending: Map<number, Pending> };

/** Pictures are outside of it. */
const THREAD_MEMORY_MB = 64;

let running: ConversionThread | null = null;
let lastId = 0;

/**
 * Has a picture converted by a process of its own. The processes belong to a thread: to start one stops the thread that does so
 * until the memory of the whole service is mapped once more, which took 50 ms, and a picture of 25 MB passes through a pipe in
 * hundreds of pieces. The bytes move there: the caller has them no longer. How many work at once is up to the callers.
 */
export async function convertPhoto(
  conversion: Conversion,
  bytes: Uint8Array,
  { memoryBytes, cpuMs, signal }: ConversionOptions,
): Promise<Converted> {
  signal?.throwIfAborted();
  const own = ownBytes(bytes);
  running ??= start();
  const thread = running;
  lastId += 1;
  const id = lastId;
  const post = (message: ThreadMessage, moved: ArrayBuffer[] = []) => thread.worker.postMessage(message, moved);
  const onAbort = () => post({ id, isLeft: true });
  signal?.addEventListener('abort', onAbort);
  try {
    return await new Promise<Converted>((resolve, reject) => {
      thread.pending.set(id, { resolve, reject });
      thread.worker.ref();
      post({ id, conversion, bytes: own, memoryBytes, cpuMs }, [own.buffer]);
    });
  } finally {
    signal?.removeEventListener('abort', onAbort);
    // Whoever left hears why they left, and not how the work ended.
    signal?.throwIfAborted();
  }
}

function start(): ConversionThread {
  const worker = new Worker(new URL('./conversion-thread.ts', import.meta.url), {
    // It needs neither the settings of the service nor its secrets.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
  });
  const started: ConversionThread = { worker, pending: new Map() };
  worker.on('message', (answer: ThreadAnswer) => settle(started, answer));
  worker.on('error', () => fail(started));
  worker.on('exit', () => fail(started));
  worker.unref();
  return started;
}

function settle(thread: ConversionThread, answer: ThreadAnswer): void {
  const pending = take(thread, answer.id);
  if ('size' in answer) pending?.resolve({ ...answer.size, bytes: Buffer.from(answer.bytes.buffer) });
  else pending?.reject(errorOf(answer));
}

function errorOf({ fault, message }: Extract<ThreadAnswer, { fault: string }>): Error {
  if (fault === 'process') return new Error(message);
  return fault === 'picture' ? new PictureFault(message) : new PictureTooComplexError(message);
}

/** The next picture starts another thread. The processes of this one end with their inputs. */
function fail(thread: ConversionThread): void {
  if (running === thread) running = null;
  for (const id of thread.pending.keys()) take(thread, id)?.reject(new Error('the thread of pictures ended'));
}

function take(thread: ConversionThread, id: number): Pending | undefined {
  const found = thread.pending.get(id);
  thread.pending.delete(id);
  // Only a thread that somebody waits for keeps the service alive.
  if (thread.pending.size === 0) thread.worker.unref();
  return found;
}
