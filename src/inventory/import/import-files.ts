import { createHash } from 'node:crypto';
import { DomainError } from '../../contract/domain-error.ts';
import type { Database, Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { newId } from '../../ids/new-id.ts';
import { type CsvRow, storableText } from '../csv/csv-file.ts';
import { readCsvInThread } from '../csv/read-in-thread.ts';
import type { StockKind } from '../csv/stock-columns.ts';
import { STOCK_NUMBER_CELL_LIMIT, stockNumberOf } from './stock-number.ts';

/** How long an uploaded file is kept, for its import and for the lines beside its errors. */
export const IMPORT_FILE_KEPT_DAYS = 7;
/** How many files a dealer can have. Another upload removes the oldest one. */
export const IMPORT_FILES_LIMIT = 10;
const MAPPINGS_LIMIT = 100;
const NAME_LENGTH_LIMIT = 200;
const PRUNE_LIMIT = 10;

export type ImportFile = {
  id: string;
  organizationId: string;
  name: string;
  kind: StockKind;
  header: string[];
  lineCount: number;
  zipName: string | null;
  zipBytes: number | null;
  createdAt: Date;
};

/**
 * Who asks for a file. A file has what its columns say, whatever they are mapped to, so whoever does not see cost prices
 * finds only files that they uploaded themselves. A job reads the file that it was started with.
 */
export type FileReader = { organizationId: string; userId?: string; seesCost: boolean };

/** Stores a file as lines that jobs work on. A file that is no table is refused, and nothing of it is kept. */
export async function storeImportFile(
  db: Database,
  organizationId: string,
  file: { name: string; kind: StockKind; bytes: Uint8Array; uploadedBy?: string },
): Promise<string> {
  const { name, kind, bytes, uploadedBy = null } = file;
  const id = newId('stockFile');
  let stored = 0;
  try {
    await readCsvInThread(
      organizationId,
      bytes,
      async (header, rowCount) => {
        if (rowCount === 0)
          throw new DomainError('invalid_input', 'The file has headings, but no lines below.', 'file');
        await db.query(sql`
          insert into stock_files (id, organization_id, name, item_kind, header, line_count, uploaded_by)
          values (${id}, ${organizationId}, ${storableName(name)}, ${kind}, ${header}::text[],
            ${rowCount}, ${uploadedBy})`);
      },
      async (rows) => {
        await storeLines(db, organizationId, id, rows, stored);
        stored += rows.length;
      },
    );
    await db.query(sql`update stock_files set is_complete = true where id = ${id}`);
  } catch (error) {
    await db.query(sql`delete from stock_files where id = ${id}`).catch(() => {});
    throw error;
  }
  await removeOldest(db, organizationId);
  return id;
}

/** The name of an uploaded file as far as it is kept. */
export function storableName(name: string): string {
  return storableText(name).slice(0, NAME_LENGTH_LIMIT);
}

const LINE_COLUMNS = { number: 'integer', line: 'integer', cells: 'text' } as const;

async function storeLines(
  db: Queryable,
  organizationId: string,
  fileId: string,
  rows: CsvRow<string>[],
  before: number,
): Promise<void> {
  // An array of arrays would need equal lengths, so each line's cells travel as JSON.
  const lines = rows.map(({ line, cells }, index) => ({ number: before + index + 1, line, cells }));
  await db.query(sql`
    insert into stock_file_lines (file_id, organization_id, number, line, cells)
    select ${fileId}, ${organizationId}, number, line, array(select jsonb_array_elements_text(rows.cells::jsonb))
    from ${unnestRows('rows', lines, LINE_COLUMNS)}`);
}

/** Keeps the files of unfinished jobs. */
async function removeOldest(db: Queryable, organizationId: string): Promise<void> {
  await db.query(sql`
    delete from stock_files where id in (
      select f.id from stock_files f where f.organization_id = ${organizationId}
        and not exists (select from stock_jobs j where j.organization_id = ${organizationId}
          and j.status in ('queued', 'running') and j.parameters ->> 'fileId' = f.id)
      order by f.created_at desc, f.id desc offset ${IMPORT_FILES_LIMIT})`);
}

/** The file if this person may read it. Otherwise it counts as missing. */
export async function findReadableFile(db: Queryable, reader: FileReader, fileId: string): Promise<ImportFile> {
  return await findImportFile(db, reader.organizationId, fileId, reader);
}

export async function findImportFile(
  db: Queryable,
  organizationId: string,
  fileId: string,
  { seesCost, userId = '' }: Pick<FileReader, 'seesCost' | 'userId'> = { seesCost: true },
): Promise<ImportFile> {
  const [row] = await db.query<ImportFile>(sql`
    select id, organization_id as "organizationId", name, item_kind as kind, header, line_count as "lineCount",
      zip_name as "zipName", zip_bytes as "zipBytes", created_at as "createdAt"
    from stock_files where id = ${fileId} and organization_id = ${organizationId} and is_complete
      and (${seesCost} or uploaded_by = ${userId})`);
  if (row === undefined) {
    const message = `There is no such file. Files are kept for ${IMPORT_FILE_KEPT_DAYS} days: upload it again.`;
    throw new DomainError('not_found', message, 'file');
  }
  return row;
}

export type ImportLine = {
  number: number;
  line: number;
  cells: string[];
  /** The first line with the same stock number, if it is an earlier one. */
  repeats: number | null;
};

/** As JSON, which is read twenty times as fast as an array: 20 MB of cells took 1.4 s in all. */
const CELLS = sql`to_json(cells)`;

/** The lines after a number, as many as may be read at a time. */
export async function readImportLines(
  db: Queryable,
  fileId: string,
  { after, limit }: { after: number; limit: number },
): Promise<ImportLine[]> {
  return await db.query<ImportLine>(sql`
    select l.number, l.line, ${CELLS} as cells, (
      select e.line from stock_file_lines e
      where e.file_id = l.file_id and e.stock_number = l.stock_number and e.number < l.number
      order by e.number limit 1) as repeats
    from (
      select f.*, row_number() over (order by f.number) as position,
        sum(octet_length(array_to_string(f.cells, ''))) over (order by f.number) as bytes
      from (
        select * from stock_file_lines
        where file_id = ${fileId} and number > ${after} order by number limit ${limit}) f) l
    where l.position = 1 or l.bytes <= ${LINES_BYTES} order by l.number`);
}

/** What is read at a time. A line may have 200,000 characters, and 500 of them kept the event loop busy for a second. */
const LINES_BYTES = 524_288;

/** The beginnings of the cells of the first lines: a line may have 200,000 characters, of which a page shows few. */
export async function readSampleCells(
  db: Queryable,
  fileId: string,
  { lines, characters }: { lines: number; characters: number },
): Promise<string[][]> {
  const rows = await db.query<{ cells: string[] }>(sql`
    select array(
      select left(ltrim(cell, E' \\t\\r\\n'), ${characters})
      from unnest(l.cells) with ordinality as ordered (cell, position) order by position) as cells
    from stock_file_lines l where l.file_id = ${fileId} order by l.number limit ${lines}`);
  return rows.map(({ cells }) => cells);
}

/** The cells of some lines, by where they begin in the file. */
export async function readCellsOfLines(
  db: Queryable,
  organizationId: string,
  fileId: string,
  lines: number[],
): Promise<Map<number, string[]>> {
  const rows = await db.query<{ line: number; cells: string[] }>(sql`
    select line, ${CELLS} as cells from stock_file_lines
    where file_id = ${fileId} and organization_id = ${organizationId} and line = any(${lines}::integer[])`);
  return new Map(rows.map(({ line, cells }) => [line, cells]));
}

const NOTED_AT_ONCE = 1_000;
const NOTED_COLUMNS = { number: 'integer', stockNumber: 'text' } as const;

/** Notes the stock number of each line, by which a file's second line of the same item is found. */
export async function noteStockNumbers(db: Queryable, fileId: string, columnIndex: number): Promise<void> {
  for (let after = 0; ; ) {
    const lines: { number: number; cell: string | null }[] = await db.query(sql`
      select number, left(cells[${columnIndex + 1}::integer], ${STOCK_NUMBER_CELL_LIMIT}) as cell
      from stock_file_lines where file_id = ${fileId} and number > ${after} order by number limit ${NOTED_AT_ONCE}`);
    const last = lines.at(-1);
    if (last === undefined) return;
    const rows = lines.map(({ number, cell }) => ({ number, stockNumber: stockNumberOf(cell ?? '') || null }));
    await db.query(sql`
      update stock_file_lines l set stock_number = rows.stock_number
      from ${unnestRows('rows', rows, NOTED_COLUMNS)}
      where l.file_id = ${fileId} and l.number = rows.number and l.stock_number is distinct from rows.stock_number`);
    after = last.number;
  }
}

/**
 * The mapping that the dealer chose last for a file with these headings: the column of each heading, '' for none. Null
 * if there is none.
 */
export async function recallMapping(
  db: Queryable,
  { organizationId, kind, header }: Pick<ImportFile, 'organizationId' | 'kind' | 'header'>,
): Promise<string[] | null> {
  const [row] = await db.query<{ columns: string[] }>(sql`
    select columns from stock_column_mappings
    where organization_id = ${organizationId} and item_kind = ${kind} and header_key = ${keyOf(header)}`);
  return row?.columns ?? null;
}

export async function rememberMapping(
  db: Queryable,
  { organizationId, kind, header }: Pick<ImportFile, 'organizationId' | 'kind' | 'header'>,
  columns: string[],
): Promise<void> {
  await db.query(sql`
    insert into stock_column_mappings (organization_id, item_kind, header_key, columns)
    values (${organizationId}, ${kind}, ${keyOf(header)}, ${columns}::text[])
    on conflict (organization_id, item_kind, header_key) do update set
      columns = excluded.columns, used_at = excluded.used_at`);
  await db.query(sql`
    delete from stock_column_mappings where (organization_id, item_kind, header_key) in (
      select organization_id, item_kind, header_key from stock_column_mappings
      where organization_id = ${organizationId} order by used_at desc offset ${MAPPINGS_LIMIT})`);
}

function keyOf(header: string[]): string {
  return createHash('sha256').update(JSON.stringify(header)).digest('hex');
}

/** Deletes some files that were uploaded long ago; returns how many. */
export async function pruneImportFiles(db: Queryable): Promise<number> {
  const rows = await db.query(sql`
    delete from stock_files where id in (
      select id from stock_files where created_at < now() - make_interval(days => ${IMPORT_FILE_KEPT_DAYS})
      order by created_at limit ${PRUNE_LIMIT})
    returning id`);
  return rows.length;
}
