import { createWriteStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { COMMAND_LINE } from '../../audit/actor.ts';
import { IMPORT_FILE_LIMIT_MB } from '../../contract/dashboard/limits.ts';
import type { Database } from '../../db/database.ts';
import { StartError } from '../../db/start-error.ts';
import { notFound } from '../../dealers/input-rules.ts';
import { currencyOf } from '../../dealers/organization-settings.ts';
import { findOrganization } from '../../dealers/organizations.ts';
import { CSV_BYTES_LIMIT } from '../../inventory/csv/csv-file.ts';
import type { StockKind } from '../../inventory/csv/stock-columns.ts';
import { exportStock } from '../../inventory/csv/stock-export.ts';
import {
  columnsOf,
  type NamedColumn,
  suggestMapping,
  withNamedColumns,
} from '../../inventory/import/column-mapping.ts';
import { findImportFile, type ImportFile, storeImportFile } from '../../inventory/import/import-files.ts';
import { startImport } from '../../inventory/import/start-import.ts';
import { storeZip } from '../../inventory/import/store-zip.ts';
import { jobErrorLines } from '../../inventory/jobs/error-file.ts';
import type { StockJobContext } from '../../inventory/jobs/job-kind.ts';
import { runStockJobs } from '../../inventory/jobs/run-stock-jobs.ts';
import { findJob, type JobRow } from '../../inventory/jobs/stock-job-queue.ts';
import { openPhotoFiles } from '../../service/photo-storage.ts';
import { STOCK_JOB_KINDS_RUN } from '../../service/stock-job-kinds.ts';
import { createSsrfGuard } from '../../webhooks/sending/ssrf-guard.ts';
import { fields } from '../plain-text.ts';
import type { CommandOutput, Shell } from '../shell.ts';
import { namedValues } from './option-values.ts';

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- stock import stock.csv --organization org_… --dry-run
  $ npm run -s crownwheel -- stock import stock.csv --organization org_… --errors wrong.csv --json
  $ npm run -s crownwheel -- stock import stock.csv --organization org_… --map "Our code=stock_number" --map "Remarks="
  $ npm run -s crownwheel -- stock import stock.csv --organization org_… --photos photos.zip
  $ npm run -s crownwheel -- stock export watches.csv --organization org_…

The stock number of a line identifies its item. An empty cell keeps the item's value, items without a line stay as they are, and
importing the same file again changes nothing. Columns are recognized by their headings. If somebody mapped the same headings before,
here or in the dashboard, the command uses that mapping. --map changes it for one heading; with nothing behind the equals sign,
the column is left out.

A photo in the zip belongs to the item whose stock number is its name (W-1042.jpg, W-1042-2.jpg) or its folder (W-1042/front.jpg),
or which names it in the column "photos".

Exit codes of "stock import", for a nightly run: 0 if all lines are valid, 2 if some lines are invalid and the others
were imported, 1 if the import failed or was cancelled.`;

const KINDS: Record<string, StockKind> = { watches: 'listing', parts: 'part' };
const kindOption = () =>
  new Option('--kind <kind>', 'what is in the file').choices(Object.keys(KINDS)).default('watches');

/** Exit code of an import that had to leave lines out. */
const SOME_WRONG = 2;
const POLL_MS = 250;
const PROGRESS_EVERY_MS = 2_000;

type ImportOptions = {
  organization: string;
  kind: string;
  map?: NamedColumn[];
  photos?: string;
  dryRun?: boolean;
  errors?: string;
};
type ExportOptions = { organization: string; kind: string };

/** Files of stock, as the dashboard imports and exports them. */
export function addStock(program: Command, shell: Shell): void {
  const noun = program
    .command('stock')
    .description("import and export a dealer's stock as CSV files")
    .addHelpText('after', EXAMPLES);
  const take = noun
    .command('import')
    .description('create and change items by the lines of a CSV file')
    .argument('<file>', 'the CSV file: commas, semicolons or tabs, UTF-8 or UTF-16')
    .requiredOption('--organization <id>', 'the dealer, org_…')
    .addOption(kindOption())
    .option(
      '--map <heading=column>',
      'what a heading of the file means; may be repeated',
      namedValues((heading, column) => ({ heading, column })),
    )
    .option('--photos <zip>', 'a zip with photos of the items in the file')
    .option('--dry-run', 'report what each line would do, and change nothing')
    .option('--errors <file>', 'write the invalid lines to this CSV file')
    .addHelpText('after', EXAMPLES);
  shell.run(take, async (path: string, options: ImportOptions) => importFile(shell, path, options));

  const give = noun
    .command('export')
    .description("write a dealer's stock to a CSV file, which can be imported again")
    .argument('<file>', 'the CSV file to write')
    .requiredOption('--organization <id>', 'the dealer, org_…')
    .addOption(kindOption())
    .addHelpText('after', EXAMPLES);
  shell.run(give, async (path: string, options: ExportOptions) => exportFile(shell, path, options));
}

async function importFile(shell: Shell, path: string, options: ImportOptions): Promise<CommandOutput> {
  const { organization: organizationId, dryRun: isCheck = false } = options;
  const bytes = await readStockFile(path);
  return await shell.withChannel(async ({ context: channel, config }) => {
    const { db } = channel;
    await assertOrganization(db, organizationId);
    const kind = kindOf(options.kind);
    const fileId = await storeImportFile(db, organizationId, { name: basename(path), kind, bytes });
    const file = await findImportFile(db, organizationId, fileId);
    const currency = (await currencyOf(db, organizationId)) ?? 'USD';
    const suggested = await suggestMapping(db, file, currency, true);
    const mapping = withNamedColumns(file, suggested, columnsOf(file, currency, true), options.map ?? []);
    if (options.photos !== undefined) await storePhotos(db, file, options.photos);
    const request = { organizationId, fileId, mapping, isCheck, seesCost: true };
    const jobId = await startImport(db, COMMAND_LINE, request);
    const context = {
      ...channel,
      photoFiles: await openPhotoFiles(config),
      guard: createSsrfGuard(config.isPrivateWebhookAllowed),
    };
    const job = await waitForEnd(shell, context, organizationId, jobId);
    if (options.errors !== undefined) {
      await writeLines(options.errors, jobErrorLines(db, { organizationId, seesCost: true }, job));
    }
    return answerOf(job, isCheck, ignoredOf(file.header, mapping));
  });
}

async function exportFile(shell: Shell, path: string, options: ExportOptions): Promise<CommandOutput> {
  return await shell.withChannel(async ({ context }) => {
    const { organization: organizationId } = options;
    await assertOrganization(context.db, organizationId);
    const filter = { organizationId, kind: kindOf(options.kind) };
    const lines = exportStock(context.db, filter, { seesCost: true, publicUrl: context.publicUrl, now: null });
    const bytes = await writeLines(path, lines);
    return {
      json: { object: 'stock_export', organization_id: organizationId, kind: options.kind, file: path, bytes },
      text: `Wrote the ${options.kind} to ${path}.`,
    };
  });
}

async function readStockFile(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > CSV_BYTES_LIMIT) throw new StartError(`${path} has more than ${IMPORT_FILE_LIMIT_MB} MB`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${path} can't be read: ${(error as Error).message}`);
  }
}

async function storePhotos(db: Database, { organizationId, id }: ImportFile, path: string): Promise<void> {
  try {
    const file = await open(path);
    // Closes the file at its end, or when storing fails.
    await storeZip(db, organizationId, id, basename(path), file.createReadStream());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new StartError(`${path} can't be read: ${(error as Error).message}`);
  }
}

async function writeLines(path: string, lines: AsyncIterable<string>): Promise<number> {
  const file = createWriteStream(path);
  try {
    await pipeline(Readable.from(lines), file);
    return file.bytesWritten;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new StartError(`${path} can't be written: ${(error as Error).message}`);
  }
}

/** Runs the job here; workers of a running service may take batches of it too. Others of the dealer's jobs may be first. */
async function waitForEnd(
  shell: Shell,
  context: StockJobContext,
  organizationId: string,
  jobId: string,
): Promise<JobRow> {
  let saidAtMs = performance.now();
  for (;;) {
    await runStockJobs(context, STOCK_JOB_KINDS_RUN, { jobId });
    const job = await findJob(context.db, organizationId, jobId);
    if (job.finishedAt !== null) return job;
    if (performance.now() - saidAtMs > PROGRESS_EVERY_MS) {
      saidAtMs = performance.now();
      shell.onProgress(`${job.done} of ${job.total ?? '?'} lines`);
    }
    await sleep(POLL_MS);
  }
}

function answerOf(job: JobRow, isCheck: boolean, ignored: string[]): CommandOutput {
  const wrong = job.counts.wrong ?? 0;
  const isDone = job.status === 'done';
  const counted = Object.entries(job.counts).map(([name, count]): [string, string] => [
    name.replaceAll('_', ' '),
    String(count),
  ]);
  return {
    json: {
      object: isCheck ? 'stock_import_check' : 'stock_import',
      job_id: job.id,
      status: job.status,
      lines: job.total,
      counts: job.counts,
      ignored_columns: ignored,
      error: job.error,
    },
    text: fields([
      ['job', job.id],
      ['status', job.error === null ? job.status : `${job.status}: ${job.error}`],
      ...counted,
      ...(ignored.length === 0 ? [] : [['ignored columns', ignored.join(', ')] as [string, string]]),
    ]),
    exitCode: !isDone ? 1 : wrong > 0 ? SOME_WRONG : 0,
  };
}

function ignoredOf(header: string[], mapping: string[]): string[] {
  return header.filter((_, index) => mapping[index] === '');
}

function kindOf(name: string): StockKind {
  return KINDS[name] ?? 'listing';
}

async function assertOrganization(db: Database, organizationId: string): Promise<void> {
  if ((await findOrganization(db, organizationId)) === null) throw notFound('organization', organizationId);
}
