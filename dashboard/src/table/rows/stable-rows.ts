import { useState } from 'react';
import type { ListPage } from '../list-page.ts';
import { useOwnRows } from './own-rows.ts';

/**
 * Rows change in place and never jump: when a live update would put them in another order, add some or take some away,
 * the list stays as it is and a bar says how many. Whatever the person asks for themselves is shown at once.
 */
export type StableRows<Row> = {
  page: ListPage<Row> | undefined;
  /** How many rows would come. */
  added: number;
  /** How many would go or move. */
  changed: number;
  /** Rows that are no longer in this list; they stay until the person looks. */
  gone: ReadonlySet<string>;
  /** How often a row has changed in place, for its glow. */
  glow: ReadonlyMap<string, number>;
  show: () => void;
};

type Shown<Row> = {
  /** Which list and page it is of. */
  key: string;
  /** What was read last, whether or not it is shown. */
  source: ListPage<Row>;
  page: ListPage<Row>;
  /** The first read after opening the list is over: from now on rows stay where they are. */
  isSettled: boolean;
  added: number;
  changed: number;
  gone: ReadonlySet<string>;
  glow: ReadonlyMap<string, number>;
};

type Source<Row> = { data: ListPage<Row> | undefined; isFetching?: boolean; isPlaceholderData?: boolean };

export function useStableRows<Row>(list: Source<Row>, key: string, idOf: (row: Row) => string): StableRows<Row> {
  const [stored, setShown] = useState<Shown<Row> | null>(null);
  const ownRows = useOwnRows();
  let shown = stored;
  if (list.data !== undefined) {
    const read = advance(stored, list as Source<Row> & { data: ListPage<Row> }, key, idOf);
    const next = hidesOneOf(ownRows, read, idOf) ? adopted(read.key, read.source, true) : read;
    if (next !== stored) {
      shown = next;
      setShown(next);
    }
  }
  return {
    page: list.data === undefined ? undefined : shown?.page,
    added: list.data === undefined ? 0 : (shown?.added ?? 0),
    changed: list.data === undefined ? 0 : (shown?.changed ?? 0),
    gone: shown?.gone ?? NONE,
    glow: shown?.glow ?? NO_GLOW,
    show: () => shown !== null && setShown(adopted(shown.key, shown.source, true)),
  };
}

const NONE: ReadonlySet<string> = new Set();
const NO_GLOW: ReadonlyMap<string, number> = new Map();

function adopted<Row>(key: string, source: ListPage<Row>, isSettled: boolean): Shown<Row> {
  return { key, source, page: source, isSettled, added: 0, changed: 0, gone: NONE, glow: NO_GLOW };
}

function advance<Row>(
  shown: Shown<Row> | null,
  { data, isFetching = false, isPlaceholderData = false }: Source<Row> & { data: ListPage<Row> },
  key: string,
  idOf: (row: Row) => string,
): Shown<Row> {
  // While another page is read, the rows of the one before stay.
  if (isPlaceholderData) return shown ?? adopted('', data, false);
  if (shown === null || shown.key !== key) return adopted(key, data, !isFetching);
  if (shown.source === data) return shown.isSettled || isFetching ? shown : { ...shown, isSettled: true };
  return shown.isSettled ? merged(shown, data, idOf) : adopted(key, data, !isFetching);
}

/** A row that the person made themselves was read and is not shown yet. */
function hidesOneOf<Row>(ownRows: ReadonlySet<string>, { source, page }: Shown<Row>, idOf: (row: Row) => string) {
  if (source === page || ownRows.size === 0) return false;
  const shown = new Set(page.data.map(idOf));
  return source.data.some((row) => ownRows.has(idOf(row)) && !shown.has(idOf(row)));
}

/** What was read anew, in the order that is shown. */
function merged<Row>(shown: Shown<Row>, data: ListPage<Row>, idOf: (row: Row) => string): Shown<Row> {
  const fresh = new Map(data.data.map((row) => [idOf(row), row]));
  const before = shown.page.data;
  const ids = before.map(idOf);
  const rows = before.map((row) => fresh.get(idOf(row)) ?? row);
  const known = new Set(ids);
  const come = data.data.filter((row) => !known.has(idOf(row))).length;
  const missing = ids.filter((id) => !fresh.has(id));
  const staying = ids.filter((id) => fresh.has(id));
  const order = data.data.map(idOf).filter((id) => known.has(id));
  const moved = staying.filter((id, index) => order[index] !== id).length;
  // New rows push the last ones to the next page: those are not gone.
  const pushed = data.next_cursor === null ? NONE : new Set(ids.slice(ids.length - come));
  const glow = new Map(shown.glow);
  for (const [index, row] of rows.entries()) {
    const old = before[index];
    if (old !== row && JSON.stringify(old) !== JSON.stringify(row)) glow.set(idOf(row), (glow.get(idOf(row)) ?? 0) + 1);
  }
  const gone = new Set(missing.filter((id) => !pushed.has(id)));
  const added =
    come - pulledUp(data.data, (row) => !known.has(idOf(row)), shown.page.next_cursor === null ? 0 : gone.size);
  const changed = gone.size + moved;
  return {
    ...shown,
    source: data,
    page: added + changed === 0 ? data : { ...data, data: rows },
    added,
    changed,
    gone,
    glow,
  };
}

/** Rows that are not new: they come up from the next page in the place of those that are gone. */
function pulledUp<Row>(rows: readonly Row[], isUnknown: (row: Row) => boolean, limit: number): number {
  const lastKnown = rows.findLastIndex((row) => !isUnknown(row));
  return Math.min(limit, rows.length - 1 - lastKnown);
}
