import type { Queryable } from '../../db/database.ts';
import { CSV_START, writeCsv } from '../csv/csv-file.ts';
import { type ColumnMapping, costHeadings } from '../import/column-mapping.ts';
import { type FileReader, findReadableFile, type ImportFile, readCellsOfLines } from '../import/import-files.ts';
import { type JobErrorRow, type JobRow, listJobErrors } from './stock-job-queue.ts';

const BATCH_ROWS = 500;
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
    yield writeCsv(file === null ? rows.map(cellsOf) : await linesOf(db, file, rows, hidden));
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
async function linesOf(db: Queryable, file: ImportFile, rows: JobErrorRow[], hidden: number[]): Promise<string[][]> {
  const messages = new Map<number, string[]>();
  for (const { line, field, message } of rows) {
    const text = field === null ? message : `${field}: ${message}`;
    messages.set(line ?? 0, [...(messages.get(line ?? 0) ?? []), text]);
  }
  const cells = await readCellsOfLines(db, file.organizationId, file.id, [...messages.keys()]);
  return [...messages].map(([line, texts]) => {
    const own = cells.get(line) ?? [];
    const shown = file.header.map((_, index) => (hidden.includes(index) ? '' : (own[index] ?? '')));
    return [...shown, String(line), texts.join(' ')];
  });
}

function cellsOf({ line, stockNumber, field, message }: JobErrorRow): string[] {
  return [line === null ? '' : String(line), stockNumber ?? '', field ?? '', message];
}
