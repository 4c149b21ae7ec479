import { COMMAND_LINE } from '../../../src/audit/actor.ts';
import { sql } from '../../../src/db/sql.ts';
import type { StockKind } from '../../../src/inventory/csv/stock-columns.ts';
import { suggestMapping } from '../../../src/inventory/import/column-mapping.ts';
import { findImportFile, storeImportFile } from '../../../src/inventory/import/import-files.ts';
import { startImport } from '../../../src/inventory/import/start-import.ts';
import type { StockJobContext } from '../../../src/inventory/jobs/job-kind.ts';
import { findJob, listJobErrors } from '../../../src/inventory/jobs/stock-job-queue.ts';
import type { World } from '../world.ts';
import { runJobs } from './stock-jobs.ts';

export type ImportResult = {
  jobId: string;
  status: string;
  counts: Record<string, number>;
  /** Line, column and message. */
  errors: [line: number | null, field: string | null, message: string][];
};

/** The columns that most files of the tests have. */
export const IMPORT_HEADER = 'stock_number,title,brand,model,condition,price,units';

/** What an import can change of a dealer's items. */
export async function importedRows({ db }: World, organizationId: string): Promise<Record<string, unknown>[]> {
  return await db.query<Record<string, unknown>>(sql`
    select stock_number, title, price_amount, units, is_hidden, attributes ->> 'brand' as brand, description from items
    where organization_id = ${organizationId} order by stock_number`);
}

/** Imports a text as a file, or checks it, and waits for the end. */
export async function importText(
  world: World,
  organizationId: string,
  text: string | Buffer,
  {
    kind = 'listing',
    isCheck = false,
    context = {},
  }: { kind?: StockKind; isCheck?: boolean; context?: Partial<StockJobContext> } = {},
): Promise<ImportResult> {
  const { db } = world;
  const fileId = await storeImportFile(db, organizationId, { name: 'stock.csv', kind, bytes: Buffer.from(text) });
  const file = await findImportFile(db, organizationId, fileId);
  const mapping = await suggestMapping(db, file, 'USD', true);
  const request = { organizationId, fileId, mapping, isCheck, seesCost: true };
  const jobId = await startImport(db, COMMAND_LINE, request);
  await runJobs(world, { context });
  const { status, counts } = await findJob(db, organizationId, jobId);
  const errors = await listJobErrors(db, organizationId, jobId, { after: 0, limit: 1_000 });
  return { jobId, status, counts, errors: errors.map(({ line, field, message }) => [line, field, message]) };
}
