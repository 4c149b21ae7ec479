import type { ColumnDef } from '@tanstack/react-table';
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
};

export function tableColumns<Row>(columns: readonly Column<Row>[]): ColumnDef<Row>[] {
  return columns.map((column) => ({
    id: column.id,
    header: column.header,
    cell: ({ row }) => column.cell(row.original),
    meta: column,
  }));
}
