import { parentPort, workerData } from 'node:worker_threads';
import { DomainError } from '../../contract/domain-error.ts';
import { readCsv } from './csv-file.ts';
import type { CsvThreadMessage } from './read-in-thread.ts';

/** Runs in a thread of its own: parsing 18 MB takes a second of CPU time, which would block the event loop. */
const BATCH_ROWS = 500;

function send(message: CsvThreadMessage): void {
  parentPort?.postMessage(message);
}

try {
  const { header, rows } = readCsv(Buffer.from(workerData as Uint8Array));
  send({ header, rowCount: rows.length });
  let sent = 0;
  // The main thread asks for each batch, so that they don't pile up if the database is slow.
  parentPort?.on('message', () => {
    send({ rows: rows.slice(sent, sent + BATCH_ROWS) });
    sent += BATCH_ROWS;
    if (sent >= rows.length) parentPort?.close();
  });
} catch (error) {
  if (!(error instanceof DomainError)) throw error;
  send({ refusal: error.message });
}
