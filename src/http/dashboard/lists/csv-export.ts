import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { PIECE_BYTES, type RowsWithin } from '../../../db/large-pages.ts';
import { CSV_START, writeCsv } from '../../../inventory/csv/csv-file.ts';
import type { SignedIn } from '../call.ts';
import { pacedPieces } from '../limits/file-pace.ts';

/** The event loop does nothing else while a batch is read and written: 500 rows of orders took it 56 ms. */
const BATCH_ROWS = 100;
/** Nobody knows yet how large the rows are. */
const FIRST_BATCH_ROWS = 10;
const ROWS_LIMIT = 100_000;
/** Rows with long texts: 100,000 of the audit log could have 24 GB. */
const FILE_BYTES_LIMIT = 536_870_912;

/** Where a batch begins: behind the last row of the one before. */
export type ExportStart = { position: { value: string | null; id: string }; isBackwards: false } | null;

/** The position is absent in a list that is ordered by ids alone. */
type ExportedRow = { id: string; position?: string };

type ListExport<Row> = {
  header: string[];
  /** A list whose rows may be large cuts a batch off by bytes itself. */
  read(start: ExportStart, limit: number): Promise<Row[] | RowsWithin<Row>>;
  cellsOf(rows: Row[]): Promise<string[][]>;
};

/** A list as a CSV file, read in batches while it is sent, so that no list is too long for the memory. */
export async function sendCsv<Row extends ExportedRow>(
  { user, reply }: { user: Pick<SignedIn, 'organizationId'>; reply: FastifyReply },
  fileName: string,
  list: ListExport<Row>,
): Promise<FastifyReply> {
  return await reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${fileName}"`)
    .send(Readable.from(pacedPieces(user.organizationId, csvPieces(list))));
}

export async function* csvPieces<Row extends ExportedRow>({
  header,
  read,
  cellsOf,
}: ListExport<Row>): AsyncGenerator<string> {
  yield CSV_START + writeCsv([header]);
  let start: ExportStart = null;
  let limit = FIRST_BATCH_ROWS;
  let bytes = 0;
  for (let sent = 0; sent < ROWS_LIMIT && bytes < FILE_BYTES_LIMIT; ) {
    const batch: Row[] | RowsWithin<Row> = await read(start, Math.min(limit, ROWS_LIMIT - sent));
    const { rows, isMore } = Array.isArray(batch) ? { rows: batch, isMore: batch.length >= limit } : batch;
    const last = rows.at(-1);
    if (last === undefined) return;
    const piece = writeCsv(await cellsOf(rows));
    yield piece;
    if (!isMore) return;
    sent += rows.length;
    bytes += Buffer.byteLength(piece);
    limit = nextLimit(rows.length, piece.length);
    start = { position: { value: last.position ?? null, id: last.id }, isBackwards: false };
  }
}

/** As many rows of the last size as make a piece; at most twice as many as before, since the next ones may be larger. */
function nextLimit(rows: number, characters: number): number {
  const fitting = Math.floor((rows * PIECE_BYTES) / characters);
  return Math.max(1, Math.min(fitting, 2 * rows, BATCH_ROWS));
}
