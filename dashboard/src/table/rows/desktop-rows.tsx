import { Checkbox, Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Column } from '../columns.ts';
import type { ListState, ListStateSetters } from '../list-state.ts';
import { isOwnClick, type RowsProps, rowAttributes } from './rows.ts';
import { useScrollEdge } from './scroll-edge.ts';

/** The rows as a table, with a header that stays. */
export function DesktopRows<Row>(props: RowsProps<Row>) {
  const { name, columns, state, selection, pathOf } = props;
  const { ref, hasMore } = useScrollEdge();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section ref={ref} className="data-table-scroll" data-more={hasMore || undefined} aria-label={name} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {selection === null ? null : (
              <th className="select-cell">
                <PageCheckbox {...props} />
              </th>
            )}
            {columns.map((column) => (
              <HeaderCell key={column.id} column={column} state={state} />
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows === undefined ? (
            <SkeletonRows columnCount={columns.length + (selection === null ? 0 : 1)} />
          ) : (
            props.rows.map((row, index) => (
              <tr
                key={props.idOf(row)}
                {...rowAttributes(props, row, index)}
                onClick={(event) => isOwnClick(event.target) && props.open(row)}
              >
                {selection === null ? null : (
                  <td className="select-cell">
                    <RowCheckbox {...props} row={row} index={index} />
                  </td>
                )}
                {columns.map((column) => (
                  <td key={column.id} data-align={column.align} data-title={column.isTitle || undefined}>
                    {column.isTitle ? <TitleLink path={pathOf(row)}>{column.cell(row)}</TitleLink> : column.cell(row)}
                  </td>
                ))}
              </tr>
            ))
          )}
        </tbody>
      </table>
    </section>
  );
}

/** The name of a row as a link, so that it opens in a new tab, too. */
export function TitleLink({ path, children }: { path: string | null; children: ReactNode }) {
  if (path === null) return children;
  return (
    <Link to={path} className="row-link">
      {children}
    </Link>
  );
}

/** Shift and a click select all rows between. */
export function RowCheckbox<Row>(props: RowsProps<Row> & { row: Row; index: number; size?: 'xs' | 'md' }) {
  const { row, index, selection, nameOf, idOf, size = 'xs' } = props;
  return (
    <Checkbox
      size={size}
      aria-label={`Select ${nameOf(row)}`}
      checked={selection?.has(idOf(row)) ?? false}
      onChange={(event) => selection?.toggle(index, (event.nativeEvent as MouseEvent).shiftKey === true)}
    />
  );
}

function PageCheckbox<Row>({ rows = [], selection, idOf }: RowsProps<Row>) {
  const selected = rows.filter((row) => selection?.has(idOf(row))).length;
  return (
    <Checkbox
      size="xs"
      aria-label="Select all on this page"
      checked={rows.length > 0 && selected === rows.length}
      indeterminate={selected > 0 && selected < rows.length}
      onChange={() => selection?.togglePage()}
    />
  );
}

const SKELETON_ROWS = Array.from({ length: 10 }, (_, index) => `skeleton-${index}`);

function SkeletonRows({ columnCount }: { columnCount: number }) {
  return SKELETON_ROWS.map((key) => (
    <tr key={key}>
      <td colSpan={columnCount}>
        <Skeleton height={16} />
      </td>
    </tr>
  ));
}

type HeaderCellProps<Row> = { column: Column<Row>; state: ListState & ListStateSetters };

function HeaderCell<Row>({ column, state }: HeaderCellProps<Row>) {
  const isDescending = state.sort === `-${column.id}`;
  const isSorted = isDescending || state.sort === column.id;
  const next = state.sort === column.id ? `-${column.id}` : isDescending ? '' : column.id;
  const sorting = isSorted ? (isDescending ? 'descending' : 'ascending') : undefined;
  return (
    <th
      data-align={column.align}
      data-title={column.isTitle || undefined}
      style={{ width: column.width }}
      aria-sort={sorting}
    >
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
