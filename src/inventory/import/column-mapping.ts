import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable } from '../../db/database.ts';
import { columnFinder, type StockColumn, stockColumns } from '../csv/stock-columns.ts';
import { type ImportFile, recallMapping } from './import-files.ts';

/** Which column of stock each column of a file means, by its name; '' for none. */
export type ColumnMapping = string[];

export const KEY_COLUMN = 'stock_number';

/**
 * The mapping that the dealer chose last for the same headings or, without one, a guess from the headings. Each column
 * is used once.
 */
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
  const columnOf = columnFinder(columns);
  const taken = new Set<string>();
  return file.header.map((heading) => {
    const name = columnOf(heading)?.name ?? '';
    if (name === '' || taken.has(name)) return '';
    taken.add(name);
    return name;
  });
}

/** A heading of a file and the column that it means, by its name or by what else it is called; '' for none. */
export type NamedColumn = { heading: string; column: string };

/** The suggested mapping with what somebody says of single headings. A column that was suggested for another heading moves. */
export function withNamedColumns(
  { header }: Pick<ImportFile, 'header'>,
  suggested: ColumnMapping,
  columns: StockColumn[],
  named: readonly NamedColumn[],
): ColumnMapping {
  const columnOf = columnFinder(columns);
  const mapping = [...suggested];
  for (const { heading, column } of named) {
    const index = headingIndex(header, heading);
    if (index === -1) throw invalid(`The file has no column "${heading}". Its columns are ${header.join(', ')}.`);
    const name = column === '' ? '' : columnOf(column)?.name;
    if (name === undefined) {
      throw invalid(`There is no column ${column} of stock. There are ${columns.map((one) => one.name).join(', ')}.`);
    }
    const before = name === '' ? -1 : mapping.indexOf(name);
    const isSaid = named.some((other) => headingIndex(header, other.heading) === before);
    if (before !== -1 && !isSaid) mapping[before] = '';
    mapping[index] = name;
  }
  return mapping;
}

/** An exact match is preferred; otherwise case and surrounding spaces don't matter. */
function headingIndex(header: string[], heading: string): number {
  const plain = (text: string) => text.trim().toLowerCase();
  const exact = header.indexOf(heading);
  return exact !== -1 ? exact : header.findIndex((one) => plain(one) === plain(heading));
}

/** The columns that a person may import. */
export function columnsOf({ kind }: Pick<ImportFile, 'kind'>, currency: string, seesCost: boolean): StockColumn[] {
  return stockColumns(kind, currency).filter((column) => seesCost || !column.isCost);
}

/**
 * The headings of a file that mean cost prices, by their index: those that somebody mapped so, and those whose name says so.
 * Files are the dealer's, so staff meet the ones that an owner uploaded.
 */
export function costHeadings({ kind, header }: Pick<ImportFile, 'kind' | 'header'>, mapping: ColumnMapping): number[] {
  // The currency decides how a cell is read, not what its heading means.
  const costs = stockColumns(kind, 'USD').filter((column) => column.isCost);
  const costOf = columnFinder(costs);
  const isCost = (heading: string, index: number) =>
    costs.some(({ name }) => name === mapping[index]) || costOf(heading) !== null;
  return header.flatMap((heading, index) => (isCost(heading, index) ? [index] : []));
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
