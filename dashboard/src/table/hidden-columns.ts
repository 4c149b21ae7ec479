import { useLocalStorage } from '@mantine/hooks';
import type { Column } from './columns.ts';

/** Which columns a person shows, kept in the browser. The value is TanStack's: false hides. */
export function useHiddenColumns<Row>(
  tableName: string,
  columns: readonly Column<Row>[],
): [visibility: Record<string, boolean>, toggle: (id: string) => void] {
  const [chosen, setChosen] = useLocalStorage<Record<string, boolean>>({
    key: `crownwheel.columns.${tableName}`,
    defaultValue: {},
  });
  const visibility = Object.fromEntries(columns.map(({ id, isHidden }) => [id, chosen[id] ?? isHidden !== true]));
  return [visibility, (id) => setChosen({ ...chosen, [id]: visibility[id] !== true })];
}
