import { withoutApostrophe } from '../csv/csv-file.ts';

/** More than any stock number with blanks around it. What is behind is not read: an index holds no text of any length. */
export const STOCK_NUMBER_CELL_LIMIT = 500;

/**
 * The stock number that a cell means, '' for none. Whoever looks for a second line of the same item and whoever imports a
 * line must agree on it, so both ask here.
 */
export function stockNumberOf(cell: string): string {
  return withoutApostrophe(cell.slice(0, STOCK_NUMBER_CELL_LIMIT)).trim();
}
