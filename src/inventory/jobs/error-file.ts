import type { Queryable } from '../../db/database.ts';
import { CSV_START, writeCsv } from '../csv/csv-file.ts';
import { type ColumnMapping, costHeadings } from '../import/column-mapping.ts';
import { type FileReader, findReadableFile, type ImportFile, readCellsOfLines } from '../import/import-files.ts';
import { type JobErrorRow, type JobRow, listJobErrors } from './stock-job-queue.ts';

const BATCH_ROWS = 500;
/** A line of a file may have 200,000 characters, and all that are read together are in memory. */
const LINES_AT_ONCE = 10;
/** What is sent in one go: a piece of 20 MB kept everybody waiting for a second. */
const PIECE_CHARACTERS = 65_536;
const HEADER = ['line', 'stock_number', 'column', 'error'];

/**
 * The errors of a job as a CSV file, read in batches while it is sent. Those of an import stand behind the line that they
 * are about, while the file is kept and for those who may read it: whoever puts the lines right can import this file.
 */
export async function* jobErrorLines(db: Queryable, reader: FileReader, job: JobRow): AsyncGenerator<string> {
  const { organizationId, seesCost } = reader;
  const file = await fileOf(db, reader, job);
  const hidden = seesCost || file === null ? [] : costHeadings(file, job.parameters.mapping as ColumnMapping);
  yield CSV_START + writeCsv([file === null ? HEADER : [...file.header, 'line', 'error']]);
  for (let after = 0; ; ) {
    const found: JobErrorRow[] = await listJobErrors(db, organizationId, job.id, { after, limit: BATCH_ROWS });
    const last = found.at(-1);
    if (last === undefined) return;
    const rows = readableErrors(found, seesCost);
    if (file === null) yield writeCsv(rows.map(cellsOf));
    else yield* linesOf(db, file, rows, hidden);
    after = last.number;
  }
}

/** A message may repeat what stood in the cell: of a cost price, only those who may see it read that. */
export function readableErrors(rows: JobErrorRow[], seesCost: boolean): JobErrorRow[] {
  if (seesCost) return rows;
  return rows.map((row) => (row.field === 'cost' ? { ...row, message: 'The cost price is wrong.' } : row));
}

async function fileOf(db: Queryable, reader: FileReader, { parameters }: JobRow): Promise<ImportFile | null> {
  if (typeof parameters.fileId !== 'string') return null;
  return await findReadableFile(db, reader, parameters.fileId).catch(() => null);
}

/** Each line once, with all that is wrong with it. Errors of one line follow each other. */
async function* linesOf(
  db: Queryable,
  file: ImportFile,
  rows: JobErrorRow[],
  hidden: number[],
): AsyncGenerator<string> {
  const messages = new Map<number, string[]>();
  for (const { line, field, message } of rows) {
    const text = field === null ? message : `${field}: ${message}`;
    messages.set(line ?? 0, [...(messages.get(line ?? 0) ?? []), text]);
  }
  const wrong = [...messages];
  let piece = '';
  for (let from = 0; from < wrong.length; from += LINES_AT_ONCE) {
    const some = wrong.slice(from, from + LINES_AT_ONCE);
    const numbers = some.map(([line]) => line);
    const cells = await readCellsOfLines(db, file.organizationId, file.id, numbers);
    for (const [line, texts] of some) {
      const own = cells.get(line) ?? [];
      const shown = file.header.map((_, index) => (hidden.includes(index) ? '' : (own[index] ?? '')));
      piece += writeCsv([[...shown, String(line), texts.join(' ')]]);
      if (piece.length < PIECE_CHARACTERS) continue;
      yield piece;
      piece = '';
    }
  }
  if (piece !== '') yield piece;
}

function cellsOf({ line, stockNumber, field, message }: JobErrorRow): string[] {
  return [line === null ? '' : String(line), stockNumber ?? '', field ?? '', message];
}
