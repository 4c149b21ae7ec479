import type { ReactNode } from 'react';

/** A column as a page describes it. */
export type Column<Row> = {
  /** Also what the list is sorted by, and how the choice of columns is stored. */
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** Figures stand right. */
  align?: 'right';
  width?: number;
  isSortable?: boolean;
  /** Not shown until somebody chooses it. */
  isHidden?: boolean;
  /** Names the row: its cell is a link to the row's page, so it must hold no link or button of its own. */
  isTitle?: boolean;
  /**
   * Where it stands in the rows of a phone. Unless it says so, the first column is the title, the first with figures the
   * side, and the others follow in the lines below. What acts on the row stands in its corner.
   */
  phone?: PhonePlace;
  /** What a phone shows instead of the cell. */
  phoneCell?: (row: Row) => ReactNode;
};

export type PhonePlace = 'title' | 'side' | 'corner' | 'line' | 'none';

/** The columns of a row on a phone, by their place. */
export function phoneColumns<Row>(columns: readonly Column<Row>[]): Record<PhonePlace, Column<Row>[]> {
  const places: Record<PhonePlace, Column<Row>[]> = { title: [], side: [], corner: [], line: [], none: [] };
  const title = columns.find(({ phone }) => phone === 'title') ?? columns.find(({ phone }) => phone === undefined);
  const side =
    columns.find(({ phone }) => phone === 'side') ??
    columns.find((column) => column !== title && column.phone === undefined && column.align === 'right');
  for (const column of columns) {
    const own = column === title ? 'title' : column === side ? 'side' : (column.phone ?? 'line');
    places[own].push(column);
  }
  return places;
}
