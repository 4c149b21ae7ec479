import { parentPort, workerData } from 'node:worker_threads';
import { DomainError } from '../../contract/domain-error.ts';
import { type CsvRow, readCsv, storableText } from './csv-file.ts';
import type { CsvThreadMessage } from './read-in-thread.ts';

/** Runs in a thread of its own: parsing 18 MB takes a second of CPU time, which would block the event loop. */
const BATCH_ROWS = 500;
/** The event loop receives a batch and sends it to the database in one go each. */
const BATCH_CHARACTERS = 131_072;

function send(message: CsvThreadMessage): void {
  parentPort?.postMessage(message);
}

/** The rows from an index on that make a batch, at least one. */
function batchFrom(rows: CsvRow<string>[], start: number): CsvRow<string>[] {
  let end = start;
  for (let characters = 0; end < rows.length && end < start + BATCH_ROWS && characters < BATCH_CHARACTERS; end++) {
    characters += rows[end]?.cells.length ?? 0;
  }
  return rows.slice(start, end);
}

try {
  const bytes = Buffer.from((workerData as Uint8Array).buffer);
  const { header, rows } = readCsv(bytes, (cells) => JSON.stringify(cells.map(storableText)));
  send({ header, rowCount: rows.length });
  let sent = 0;
  // The main thread asks for each batch, so that they don't pile up if the database is slow.
  parentPort?.on('message', () => {
    const batch = batchFrom(rows, sent);
    send({ rows: batch });
    sent += batch.length;
    if (sent >= rows.length) parentPort?.close();
  });
} catch (error) {
  if (!(error instanceof DomainError)) throw error;
  send({ refusal: error.message });
}
