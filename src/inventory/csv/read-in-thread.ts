import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createKeyedSemaphore } from '../../concurrency/limits/keyed-semaphore.ts';
import { ownBytes } from '../../concurrency/own-bytes.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { CsvRow } from './csv-file.ts';

export type CsvThreadMessage =
  | { header: string[]; rowCount: number }
  /** The cells of each row as JSON. */
  | { rows: CsvRow<string>[] }
  /** A message for the person who uploaded the file. */
  | { refusal: string };

/** Each thread holds its file, and all its rows as texts, in memory. */
const THREADS_AT_ONCE = 2;
/** One dealer's large files must not take all threads from the others. */
const THREADS_AT_ONCE_PER_DEALER = 1;
const WAITING_LIMIT = 20;
const THREAD_MEMORY_MB = 512;
const threads = createKeyedSemaphore({
  total: THREADS_AT_ONCE,
  perKey: THREADS_AT_ONCE_PER_DEALER,
  waitingTotal: WAITING_LIMIT,
});

/**
 * Reads a CSV file in a thread of its own and hands on its rows some hundred at a time, so that nobody else waits for a
 * large file. Refuses what is no table with a sentence that says what to do. The bytes move into the thread: the caller has
 * them no longer.
 */
export async function readCsvInThread(
  organizationId: string,
  bytes: Uint8Array,
  onHeader: (header: string[], rowCount: number) => Promise<void>,
  onRows: (rows: CsvRow<string>[]) => Promise<void>,
): Promise<void> {
  await threads.run(organizationId, async () => {
    const file = ownBytes(bytes);
    const worker = new Worker(new URL('./csv-thread.ts', import.meta.url), {
      workerData: file,
      transferList: [file.buffer],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
    });
    // A fault reaches whoever waits for a message. If nobody waits, it must not end the process.
    worker.on('error', () => {});
    try {
      const first = await nextMessage(worker);
      if ('refusal' in first) throw new DomainError('invalid_input', first.refusal, 'file');
      if (!('header' in first)) throw new Error('the thread did not begin with the header');
      await onHeader(first.header, first.rowCount);
      for (let read = 0; read < first.rowCount; ) {
        worker.postMessage('next');
        const message = await nextMessage(worker);
        if (!('rows' in message)) throw new Error('the thread did not send rows');
        await onRows(message.rows);
        read += message.rows.length;
      }
    } finally {
      await worker.terminate();
    }
  });
}

/** Rejects when the thread fails, as by too little memory, or ends without an answer. */
async function nextMessage(worker: Worker): Promise<CsvThreadMessage> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const exit = once(worker, 'exit', { signal }).then(() => {
      throw new Error('the thread that reads a CSV file ended too early');
    });
    const [message] = (await Promise.race([once(worker, 'message', { signal }), exit])) as [CsvThreadMessage];
    return message;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    throw new DomainError('invalid_input', 'The file needs too much memory. Split it into several.', 'file');
  } finally {
    ended.abort();
  }
}
