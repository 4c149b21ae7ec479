import type { Queryable } from '../../db/database.ts';
import { CSV_START, writeCsv } from '../csv/csv-file.ts';
import { findImportFile, type ImportFile, readCellsOfLines } from '../import/import-files.ts';
import { type JobErrorRow, type JobRow, listJobErrors } from './job-queue.ts';

const BATCH_ROWS = 500;
const HEADER = ['line', 'stock_number', 'column', 'error'];

/**
 * The errors of a job as a CSV file, read in batches while it is sent. Those of an import stand behind the line that they
 * are about, while the file is kept: whoever puts the lines right can import this file.
 */
export async function* jobErrorLines(db: Queryable, organizationId: string, job: JobRow): AsyncGenerator<string> {
  const file = await fileOf(db, organizationId, job);
  yield CSV_START + writeCsv([file === null ? HEADER : [...file.header, 'line', 'error']]);
  for (let after = 0; ; ) {
    const rows: JobErrorRow[] = await listJobErrors(db, organizationId, job.id, { after, limit: BATCH_ROWS });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield file === null ? writeCsv(rows.map(cellsOf)) : writeCsv(await linesOf(db, organizationId, file, rows));
    after = last.number;
  }
}

async function fileOf(db: Queryable, organizationId: string, { parameters }: JobRow): Promise<ImportFile | null> {
  if (typeof parameters.fileId !== 'string') return null;
  return await findImportFile(db, organizationId, parameters.fileId).catch(() => null);
}

/** Each line once, with all that is wrong with it. Errors of one line follow each other. */
async function linesOf(db: Queryable, organizationId: string, file: ImportFile, rows: JobErrorRow[]) {
  const messages = new Map<number, string[]>();
  for (const { line, field, message } of rows) {
    const text = field === null ? message : `${field}: ${message}`;
    messages.set(line ?? 0, [...(messages.get(line ?? 0) ?? []), text]);
  }
  const cells = await readCellsOfLines(db, organizationId, file.id, [...messages.keys()]);
  return [...messages].map(([line, texts]) => {
    const own = cells.get(line) ?? [];
    return [...file.header.map((_, index) => own[index] ?? ''), String(line), texts.join(' ')];
  });
}

function cellsOf({ line, stockNumber, field, message }: JobErrorRow): string[] {
  return [line === null ? '' : String(line), stockNumber ?? '', field ?? '', message];
}
