import { Button, Center } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatNumber } from '../format.ts';
import { EmptyState, ErrorState } from '../ui/page/states.tsx';
import { useIsPhone } from '../ui/use-is-phone.ts';
import { BulkBar } from './bulk-bar.tsx';
import { useColumnChoice } from './column-choice.ts';
import type { Column } from './columns.ts';
import type { ListPage } from './list-page.ts';
import { isFiltered, type ListState, type ListStateSetters, listQueryOf } from './list-state.ts';
import { Pager } from './pager.tsx';
import { CardGrid } from './rows/card-grid.tsx';
import { DesktopRows } from './rows/desktop-rows.tsx';
import { PhoneRows } from './rows/phone-rows.tsx';
import { useRowKeys } from './rows/row-keys.ts';
import type { RowsProps } from './rows/rows.ts';
import { useStableRows } from './rows/stable-rows.ts';
import type { ListName } from './saved-views.tsx';
import { type Selection, useSelection } from './selection.ts';
import { type Filter, Toolbar } from './toolbar.tsx';

export type { Selection } from './selection.ts';

export type DataTableProps<Row> = {
  /** Names the table to screen readers, its stored columns and its saved views. */
  name: ListName;
  columns: readonly Column<Row>[];
  filters?: readonly Filter[];
  state: ListState & ListStateSetters;
  /** Of `useListPage`. */
  list: {
    data: ListPage<Row> | undefined;
    error: unknown;
    refetch: () => unknown;
    isFetching?: boolean;
    isPlaceholderData?: boolean;
  };
  idOf: (row: Row) => string;
  /** How a row is called, for the label of its box; its id unless given. */
  nameOf?: (row: Row) => string;
  /** Where Enter and a click lead; null rows can't be opened. */
  pathOf?: (row: Row) => string | null;
  searchLabel: string;
  /** How the object is called by which the address filters. */
  objectName?: string | null | undefined;
  /** Shown when there is nothing at all; a search that finds nothing says so by itself. */
  empty: ReactNode;
  /** Shown when an open tab holds nothing and nothing else narrows the list: there is no search to clear. */
  emptyTab?: ReactNode;
  /** Buttons for what is selected; without it rows have no boxes. */
  bulk?: (selection: Selection) => ReactNode;
  /** What is inside a card; without it the list has no cards. */
  card?: (row: Row) => ReactNode;
};

/** Every list of the dashboard. A page describes columns and filters; all that lists have in common comes from here. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { name, columns, state, list, idOf, nameOf = idOf, pathOf, bulk, card } = props;
  const navigate = useNavigate();
  const isPhone = useIsPhone();
  const choice = useColumnChoice(name, columns, state);
  const { page, ...rowState } = useStableRows(list, JSON.stringify(listQueryOf(state)), idOf);
  const rows = page?.data ?? NO_ROWS;
  const selection = useSelection(state, rows.map(idOf), page?.count);
  const open = (row: Row | undefined) => {
    const path = row === undefined ? null : (pathOf?.(row) ?? null);
    if (path !== null) void navigate({ to: path });
  };
  const active = useRowKeys({
    count: rows.length,
    onOpen: (index) => open(rows[index]),
    onSelect: (index) => bulk !== undefined && selection.toggle(index, false),
    onClear: selection.clear,
  });
  const isBroken = list.error !== null && list.data === undefined;
  const differences = differencesOf(rowState);
  const isEmpty = page !== undefined && rows.length === 0 && differences === '';
  const rowsProps: RowsProps<Row> = {
    name,
    rows: page === undefined ? undefined : rows,
    columns: columns.filter(({ id }) => choice.visibility[id] === true),
    state,
    idOf,
    nameOf,
    pathOf: (row) => pathOf?.(row) ?? null,
    open,
    active,
    gone: rowState.gone,
    glow: rowState.glow,
    selection: bulk === undefined ? null : selection,
  };
  return (
    <div className="data-table">
      <Toolbar
        {...props}
        choice={choice}
        count={page?.count}
        isPhone={isPhone}
        isPlain={isEmpty && !isFiltered(state)}
        selection={bulk === undefined ? null : selection}
      />
      {bulk === undefined ? null : (
        <BulkBar selection={selection} hasMore={page?.next_cursor !== null || page.previous_cursor !== null}>
          {bulk(selection)}
        </BulkBar>
      )}
      {differences === '' ? null : (
        <div className="changes-bar" role="status">
          {differences}
          <button type="button" className="text-button" onClick={rowState.show}>
            Show
          </button>
        </div>
      )}
      {isBroken ? (
        <Broken {...props} />
      ) : isEmpty ? (
        <NothingThere {...props} />
      ) : state.layout === 'cards' && card !== undefined ? (
        <CardGrid {...rowsProps} card={card} />
      ) : isPhone ? (
        <PhoneRows {...rowsProps} />
      ) : (
        <DesktopRows {...rowsProps} />
      )}
      {page === undefined || isEmpty || isBroken ? null : <Pager page={page} state={state} />}
    </div>
  );
}

const NO_ROWS: readonly never[] = [];

function differencesOf({ added, changed }: { added: number; changed: number }): string {
  return [
    ...(added === 0 ? [] : [`${formatNumber(added)} new`]),
    ...(changed === 0 ? [] : [`${formatNumber(changed)} changed`]),
  ].join(', ');
}

/** Search and filters stay in reach above it: what is wrong may be the address. */
function Broken<Row>({ state, list }: DataTableProps<Row>) {
  const isLaterPage = state.after !== '' || state.before !== '';
  return (
    <>
      <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      {isLaterPage ? (
        <Center>
          <Button variant="subtle" onClick={() => state.setPage(null)}>
            Go to the first page
          </Button>
        </Center>
      ) : null}
    </>
  );
}

function NothingThere<Row>({ state, empty, emptyTab }: DataTableProps<Row>) {
  if (!isFiltered(state)) return empty;
  if (emptyTab !== undefined) return emptyTab;
  return (
    <EmptyState
      title="Nothing matches."
      action={
        <button type="button" className="text-button" onClick={state.clear}>
          Clear search and filters
        </button>
      }
    />
  );
}
