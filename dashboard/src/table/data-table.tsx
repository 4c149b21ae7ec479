import { Checkbox, Skeleton, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { flexRender, getCoreRowModel, type RowSelectionState, useReactTable } from '@tanstack/react-table';
import { type ReactNode, useState } from 'react';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { type Column, tableColumns } from './columns.ts';
import { useHiddenColumns } from './hidden-columns.ts';
import type { ListState, ListStateSetters } from './list-state.ts';
import { Pager } from './pager.tsx';
import { useRowKeys } from './row-keys.ts';
import { type Filter, Toolbar } from './toolbar.tsx';

/** The answer of a list operation (contract/dashboard/list.ts). */
export type ListPage<Row> = {
  data: Row[];
  next_cursor: string | null;
  previous_cursor: string | null;
  count: { value: number; is_capped: boolean };
};

/** What was selected: single rows, or everything that matches the search and the filters. */
export type Selection = { ids: string[]; isAllMatching: boolean; clear: () => void };

export type DataTableProps<Row> = {
  /** Names the table to screen readers, and its stored columns. */
  name: string;
  columns: readonly Column<Row>[];
  filters?: readonly Filter[];
  state: ListState & ListStateSetters;
  /** Of `useQuery(read(…))`, with `placeholderData: keepPreviousData`, so that rows stay while a page is read. */
  list: { data: ListPage<Row> | undefined; error: unknown; refetch: () => unknown };
  idOf: (row: Row) => string;
  /** Where Enter and a click lead; null rows can't be opened. */
  pathOf?: (row: Row) => string | null;
  searchLabel: string;
  /** Shown when there is nothing at all; a search that finds nothing says so by itself. */
  empty: ReactNode;
  /** Buttons for what is selected; without it rows have no boxes. */
  bulk?: (selection: Selection) => ReactNode;
};

/** Every list of the dashboard. A page describes columns and filters; search, order, pages and keys come from here. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { name, columns, state, list, idOf, pathOf, bulk } = props;
  const navigate = useNavigate();
  const [selected, setSelected] = useState<RowSelectionState>({});
  const [isAllMatching, setAllMatching] = useState(false);
  const [hidden, toggleColumn] = useHiddenColumns(name, columns);
  const rows = list.data?.data ?? NO_ROWS;
  const table = useReactTable<Row>({
    data: rows as Row[],
    columns: tableColumns(columns),
    getRowId: idOf,
    getCoreRowModel: getCoreRowModel(),
    manualSorting: true,
    manualPagination: true,
    enableRowSelection: bulk !== undefined,
    state: { rowSelection: selected, columnVisibility: hidden },
    onRowSelectionChange: setSelected,
  });
  const open = (row: Row | undefined) => {
    const path = row === undefined ? null : (pathOf?.(row) ?? null);
    if (path !== null) void navigate({ to: path });
  };
  const active = useRowKeys({
    count: rows.length,
    onOpen: (index) => open(rows[index] as Row | undefined),
    onSelect: (index) => table.getRowModel().rows[index]?.toggleSelected(),
  });
  const clear = () => {
    setSelected({});
    setAllMatching(false);
  };
  const ids = Object.keys(selected);
  if (list.error !== null && list.data === undefined) {
    return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  }
  const isFiltered = state.q !== '' || Object.keys(state.filters).length > 0;
  const isEmpty = list.data !== undefined && rows.length === 0;
  return (
    <div className="data-table">
      <Toolbar
        {...props}
        hidden={hidden}
        onToggleColumn={toggleColumn}
        count={list.data?.count}
        isPlain={isEmpty && !isFiltered}
      />
      {ids.length === 0 || bulk === undefined ? null : (
        <div className="bulk-bar" role="status">
          <Text size="sm">{isAllMatching ? 'All that match are selected' : `${ids.length} selected`}</Text>
          {!isAllMatching && list.data?.next_cursor !== null ? (
            <button type="button" className="text-button" onClick={() => setAllMatching(true)}>
              Select all that match
            </button>
          ) : null}
          {bulk({ ids, isAllMatching, clear })}
          <button type="button" className="text-button" onClick={clear}>
            Clear
          </button>
        </div>
      )}
      {isEmpty ? (
        isFiltered ? (
          <EmptyState
            title="Nothing matches."
            action={
              <button type="button" className="text-button" onClick={state.clear}>
                Clear search and filters
              </button>
            }
          />
        ) : (
          props.empty
        )
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        <section className="data-table-scroll" aria-label={name} tabIndex={0}>
          <table>
            <thead>
              {table.getHeaderGroups().map((group) => (
                <tr key={group.id}>
                  {bulk === undefined ? null : (
                    <th className="select-cell">
                      <Checkbox
                        size="xs"
                        aria-label="Select all on this page"
                        checked={table.getIsAllRowsSelected()}
                        indeterminate={table.getIsSomeRowsSelected()}
                        onChange={table.getToggleAllRowsSelectedHandler()}
                      />
                    </th>
                  )}
                  {group.headers.map((header) => (
                    <HeaderCell key={header.id} column={header.column.columnDef.meta as Column<Row>} state={state} />
                  ))}
                </tr>
              ))}
            </thead>
            <tbody>
              {list.data === undefined
                ? SKELETON_ROWS.map((key) => (
                    <tr key={key}>
                      <td colSpan={table.getVisibleLeafColumns().length + (bulk === undefined ? 0 : 1)}>
                        <Skeleton height={16} />
                      </td>
                    </tr>
                  ))
                : table.getRowModel().rows.map((row, index) => (
                    <tr
                      key={row.id}
                      data-active={index === active || undefined}
                      data-selected={row.getIsSelected() || undefined}
                      data-openable={pathOf !== undefined || undefined}
                      onClick={(event) => isOwnClick(event.target) && open(row.original)}
                    >
                      {bulk === undefined ? null : (
                        <td className="select-cell">
                          <Checkbox
                            size="xs"
                            aria-label={`Select ${row.id}`}
                            checked={row.getIsSelected()}
                            onChange={row.getToggleSelectedHandler()}
                          />
                        </td>
                      )}
                      {row.getVisibleCells().map((cell) => (
                        <td key={cell.id} data-align={(cell.column.columnDef.meta as Column<Row>).align}>
                          {flexRender(cell.column.columnDef.cell, cell.getContext())}
                        </td>
                      ))}
                    </tr>
                  ))}
            </tbody>
          </table>
        </section>
      )}
      {list.data === undefined || isEmpty ? null : <Pager page={list.data} state={state} />}
    </div>
  );
}

const NO_ROWS: readonly never[] = [];
const SKELETON_ROWS = Array.from({ length: 10 }, (_, index) => `skeleton-${index}`);

/** A click on a link, a button or a field in a row is theirs. */
function isOwnClick(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button, input, label, [role="switch"]') === null;
}

type HeaderCellProps<Row> = { column: Column<Row>; state: ListState & ListStateSetters };

function HeaderCell<Row>({ column, state }: HeaderCellProps<Row>) {
  const isDescending = state.sort === `-${column.id}`;
  const isSorted = isDescending || state.sort === column.id;
  const next = state.sort === column.id ? `-${column.id}` : isDescending ? '' : column.id;
  const sorting = isSorted ? (isDescending ? 'descending' : 'ascending') : undefined;
  return (
    <th data-align={column.align} style={{ width: column.width }} aria-sort={sorting}>
      {column.isSortable ? (
        <button type="button" onClick={() => state.setSort(next)}>
          {column.header}
          <span aria-hidden="true">{isSorted ? (isDescending ? ' ↓' : ' ↑') : ''}</span>
        </button>
      ) : (
        column.header
      )}
    </th>
  );
}
