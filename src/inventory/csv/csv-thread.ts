import { parentPort, workerData } from 'node:worker_threads';
import { DomainError } from '../../contract/domain-error.ts';
import { readCsv } from './csv-file.ts';
import type { CsvThreadMessage } from './read-in-thread.ts';

/** Runs in a thread of its own: 18 MB take a second of the processor, which the event loop has not. */
const BATCH_ROWS = 500;

function send(message: CsvThreadMessage): void {
  parentPort?.postMessage(message);
}

try {
  const { header, rows } = readCsv(Buffer.from(workerData as Uint8Array));
  send({ header, rowCount: rows.length });
  let sent = 0;
  // Each batch is asked for: a database that is slow must not make them pile up.
  parentPort?.on('message', () => {
    send({ rows: rows.slice(sent, sent + BATCH_ROWS) });
    sent += BATCH_ROWS;
    if (sent >= rows.length) parentPort?.close();
  });
} catch (error) {
  if (!(error instanceof DomainError)) throw error;
  send({ refusal: error.message });
}
