import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable } from '../../db/database.ts';
import { columnFor, type StockColumn, stockColumns } from '../csv/stock-columns.ts';
import { type ImportFile, recallMapping } from './import-files.ts';

/** Which column of stock each column of a file means, by its name; '' for none. */
export type ColumnMapping = string[];

export const KEY_COLUMN = 'stock_number';

/** What the dealer said the last time for the same headings; else a guess by the headings. Each column is taken once. */
export async function suggestMapping(
  db: Queryable,
  file: ImportFile,
  currency: string,
  seesCost: boolean,
): Promise<ColumnMapping> {
  const columns = columnsOf(file, currency, seesCost);
  const remembered = await recallMapping(db, file);
  const known = new Set(columns.map((column) => column.name));
  if (remembered !== null) return remembered.map((name) => (known.has(name) ? name : ''));
  const taken = new Set<string>();
  return file.header.map((heading) => {
    const name = columnFor(columns, heading)?.name ?? '';
    if (name === '' || taken.has(name)) return '';
    taken.add(name);
    return name;
  });
}

/** The columns that a person may import. */
export function columnsOf({ kind }: Pick<ImportFile, 'kind'>, currency: string, seesCost: boolean): StockColumn[] {
  return stockColumns(kind, currency).filter((column) => seesCost || !column.isCost);
}

/** Refuses a mapping that can't be meant: of another file, with an unknown column, with one twice, or without the key. */
export function assertMapping(file: ImportFile, mapping: ColumnMapping, columns: StockColumn[]): void {
  if (mapping.length !== file.header.length) {
    throw invalid(`The file has ${file.header.length} columns, not ${mapping.length}.`);
  }
  const known = new Set(columns.map((column) => column.name));
  const named = mapping.filter((name) => name !== '');
  const unknown = named.find((name) => !known.has(name));
  if (unknown !== undefined) throw invalid(`There is no column ${unknown}, or you may not import it.`);
  const twice = named.find((name, index) => named.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`Two columns of the file are "${twice}". Choose one of them.`);
  if (!named.includes(KEY_COLUMN)) {
    throw invalid('No column is the stock number, which says which item a line means. Choose it.');
  }
}

function invalid(message: string): DomainError {
  return new DomainError('invalid_input', message, 'mapping');
}
