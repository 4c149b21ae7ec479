import { useLocalStorage } from '@mantine/hooks';
import type { Column } from './columns.ts';
import type { ListState, ListStateSetters } from './list-state.ts';

export type ColumnChoice = {
  /** By column, as TanStack has it: false hides. */
  visibility: Record<string, boolean>;
  /** What a saved view stores; empty is the list's own choice. */
  stored: readonly string[];
  toggle(id: string): void;
  reset(): void;
};

/** Which columns a person shows: as the address says (a saved view), else as this browser remembers. */
export function useColumnChoice<Row>(
  tableName: string,
  columns: readonly Column<Row>[],
  state: Pick<ListState & ListStateSetters, 'columns' | 'setColumns'>,
): ColumnChoice {
  const [chosen, setChosen] = useLocalStorage<Record<string, boolean>>({
    key: `crownwheel.columns.${tableName}`,
    defaultValue: {},
  });
  const isNamed = state.columns.length > 0;
  const isShown = ({ id, isHidden }: Column<Row>) =>
    isNamed ? state.columns.includes(id) : (chosen[id] ?? isHidden !== true);
  const shown = columns.filter(isShown).map(({ id }) => id);
  const isOwnChoice = columns.every((column) => isShown(column) === (column.isHidden !== true));
  return {
    visibility: Object.fromEntries(columns.map((column) => [column.id, isShown(column)])),
    stored: isOwnChoice ? [] : shown,
    toggle(id) {
      const next = columns.map((one) => one.id).filter((one) => (one === id) !== shown.includes(one));
      // The last one stays: a list without columns shows nothing to bring them back by.
      if (next.length === 0) return;
      if (isNamed) state.setColumns(next);
      else setChosen({ ...chosen, [id]: !shown.includes(id) });
    },
    reset() {
      setChosen({});
      if (isNamed) state.setColumns([]);
    },
  };
}
