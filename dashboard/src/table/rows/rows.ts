import type { Column } from '../columns.ts';
import type { ListState, ListStateSetters } from '../list-state.ts';
import type { Selection } from '../selection.ts';

/** What the rows of a table, of a phone and the cards are drawn from. */
export type RowsProps<Row> = {
  name: string;
  /** Undefined while they are read for the first time. */
  rows: readonly Row[] | undefined;
  /** Those that are shown. */
  columns: readonly Column<Row>[];
  state: ListState & ListStateSetters;
  idOf: (row: Row) => string;
  nameOf: (row: Row) => string;
  pathOf: (row: Row) => string | null;
  open: (row: Row) => void;
  /** The row that the keys are on. */
  active: number;
  gone: ReadonlySet<string>;
  glow: ReadonlyMap<string, number>;
  /** Null where rows can't be selected. */
  selection: Selection | null;
};

/** The attributes of a row, a phone's row or a card that say how it looks. */
export function rowAttributes<Row>(props: RowsProps<Row>, row: Row, index: number) {
  const id = props.idOf(row);
  const changes = props.glow.get(id);
  return {
    'data-row': true,
    'data-active': index === props.active || undefined,
    'data-selected': props.selection?.has(id) || undefined,
    'data-openable': props.pathOf(row) !== null || undefined,
    'data-gone': props.gone.has(id) || undefined,
    // Two names for one animation: a browser runs it anew only when the name changes.
    'data-glow': changes === undefined ? undefined : changes % 2 === 0 ? 'even' : 'odd',
    title: props.gone.has(id) ? 'No longer in this list' : undefined,
  };
}

/** A click on a link, a button or a field in a row is theirs. */
export function isOwnClick(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button, input, label, [role="switch"]') === null;
}
