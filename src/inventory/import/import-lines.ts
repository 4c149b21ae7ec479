import type { PlannedItem } from '../../channel/projection/projection-budget.ts';
import { eventLoopSlices, mapSteps } from '../../concurrency/time-slices.ts';
import type { DomainError } from '../../contract/domain-error.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { listChannels } from '../../dealers/integrations/integrations.ts';
import { currencyOf } from '../../dealers/organization-settings.ts';
import { stockColumns } from '../csv/stock-columns.ts';
import { readStockValues, type StockValues } from '../items/stock-values.ts';
import type { JobEntry, JobError, RunningJob, StockJobContext, StockJobKind } from '../jobs/job-kind.ts';
import { listLocations } from '../locations.ts';
import { type ColumnMapping, KEY_COLUMN } from './column-mapping.ts';
import { findImportFile, type ImportLine, noteStockNumbers, readImportLines } from './import-files.ts';
import {
  type LineError,
  type LineReading,
  locationIndexSteps,
  type PlannedLine,
  planLine,
  repeatError,
} from './plan-line.ts';

/** The parameters of an import and of its check. */
export type ImportParameters = {
  fileId: string;
  kind: 'listing' | 'part';
  mapping: ColumnMapping;
  /** Whether lines with photos are followed up. */
  hasPhotos: boolean;
};

export type NextLines = {
  reading: LineReading;
  lines: PlannedLine[];
  /** The numbers of the lines in the file, in the same order. */
  numbers: number[];
};

/** A line as an entry of a batch. */
export type LineWork = { reading: LineReading; line: PlannedLine };

export function parametersOf(job: Pick<RunningJob, 'parameters'>): ImportParameters {
  return job.parameters as unknown as ImportParameters;
}

/** The first step of an import and of its check: counts the lines and finds those that name the same item. */
export const countLines: StockJobKind['count'] = async (context, job) => {
  const { fileId, mapping } = parametersOf(job);
  const file = await findImportFile(context.db, job.organizationId, fileId);
  await noteStockNumbers(context.db, file.id, mapping.indexOf(KEY_COLUMN));
  return file.lineCount;
};

/** The lines of the next batch, parsed as far as that is possible without their items. Null after the last line. */
export async function nextLines(
  context: StockJobContext,
  job: RunningJob,
  after: number,
  limit: number,
): Promise<NextLines | null> {
  const { fileId } = parametersOf(job);
  await findImportFile(context.db, job.organizationId, fileId);
  const found = await readImportLines(context.db, fileId, { after, limit });
  if (found.length === 0) return null;
  const reading = await readingOf(context.db, job);
  // A line may have 200,000 characters.
  const lines = await eventLoopSlices.run(
    job.organizationId,
    mapSteps(found, (line) => planLine(reading, line)),
  );
  refuseRepeats(lines, found);
  return { reading, lines, numbers: found.map((line) => line.number) };
}

/**
 * A batch creates or changes each item once. The stock numbers are noted per file, and another job with another mapping may
 * have noted those of another column meanwhile.
 */
function refuseRepeats(lines: PlannedLine[], found: ImportLine[]): void {
  const firstLines = new Map<string, number>();
  for (const [index, { stockNumber, line, errors }] of lines.entries()) {
    const first = firstLines.get(stockNumber);
    if (first === undefined) firstLines.set(stockNumber, line);
    else if (stockNumber !== '' && found[index]?.repeats === null) errors.push(repeatError(first));
  }
}

/** Each line is an entry of its own. */
export function lineEntries(
  { reading, lines, numbers }: NextLines,
  itemOf: (line: PlannedLine) => PlannedItem | null,
): JobEntry<LineWork>[] {
  return lines.map((line, index) => ({
    work: { reading, line },
    position: String(numbers[index]),
    item: itemOf(line),
  }));
}

async function readingOf(db: Queryable, { organizationId, ...job }: RunningJob): Promise<LineReading> {
  const { kind, mapping } = parametersOf(job);
  const currency = await currencyOf(db, organizationId);
  const byName = new Map(stockColumns(kind, currency ?? 'USD').map((column) => [column.name, column]));
  const channels = await listChannels(db, organizationId);
  return {
    kind,
    columns: mapping.map((name) => byName.get(name) ?? null),
    locations: await eventLoopSlices.run(
      organizationId,
      locationIndexSteps(mapping.includes('location') ? await listLocations(db, organizationId) : []),
    ),
    channelIds: channels.map(({ id }) => id),
  };
}

/** The ids of the items that lines mean, by stock number. */
export async function itemIdsOfLines(
  db: Queryable,
  organizationId: string,
  lines: PlannedLine[],
): Promise<Map<string, string>> {
  const stockNumbers = lines.map((line) => line.stockNumber);
  const rows = await db.query<{ id: string; stockNumber: string }>(sql`
    select id, stock_number as "stockNumber" from items
    where organization_id = ${organizationId} and stock_number = any(${stockNumbers}::text[])`);
  return new Map(rows.map(({ id, stockNumber }) => [stockNumber, id]));
}

/** The items that lines mean, by stock number. */
export async function itemsOfLines(
  db: Queryable | Transaction,
  organizationId: string,
  lines: PlannedLine[],
): Promise<Map<string, StockValues>> {
  const ids = await itemIdsOfLines(db, organizationId, lines);
  const items = await readStockValues(db, organizationId, [...ids.values()]);
  return new Map(items.map((item) => [item.stockNumber, item]));
}

export function errorsOf({ line, stockNumber }: PlannedLine, errors: LineError[]): JobError[] {
  return errors.map(({ field, message }) => ({
    line,
    ...(stockNumber === '' ? {} : { stockNumber }),
    ...(field === null ? {} : { field }),
    message,
  }));
}

/** Domain fields by the columns that people know. */
const COLUMN_OF: Readonly<Record<string, string>> = {
  stockNumber: 'stock_number',
  priceAmount: 'price',
  taxTreatment: 'tax_treatment',
  locationId: 'location',
  isHidden: 'hidden',
  serialNumber: 'serial_number',
  costAmount: 'cost',
  privateNotes: 'private_notes',
};

/** A refusal of a domain function that names the column of the file instead of the field. */
export function errorOfRefusal(error: DomainError): LineError {
  const { field, message } = error;
  if (field === undefined) return { field: null, message };
  const name = field.startsWith('attributes.') ? field.slice('attributes.'.length) : (COLUMN_OF[field] ?? field);
  return { field: name, message: message.startsWith(field) ? name + message.slice(field.length) : message };
}
