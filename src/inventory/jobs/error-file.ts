import type { Queryable } from '../../db/database.ts';
import { CSV_START, writeCsv } from '../csv/csv-file.ts';
import { type JobErrorRow, type JobRow, listJobErrors } from './job-queue.ts';

const BATCH_ROWS = 500;
const HEADER = ['line', 'stock_number', 'column', 'error'];

/** The errors of a job as a CSV file, read in batches while it is sent. */
export async function* jobErrorLines(db: Queryable, organizationId: string, job: JobRow): AsyncGenerator<string> {
  yield CSV_START + writeCsv([HEADER]);
  for (let after = 0; ; ) {
    const rows: JobErrorRow[] = await listJobErrors(db, organizationId, job.id, { after, limit: BATCH_ROWS });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield writeCsv(rows.map(cellsOf));
    after = last.number;
  }
}

function cellsOf({ line, stockNumber, field, message }: JobErrorRow): string[] {
  return [line === null ? '' : String(line), stockNumber ?? '', field ?? '', message];
}
