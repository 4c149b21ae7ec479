import type { QueryKey, UseQueryOptions } from '@tanstack/react-query';
import { useKeptQuery } from '../api/queries.ts';
import { listQueryOf, useListState } from './list-state.ts';

/** The answer of a list operation (contract/dashboard/list.ts). */
export type ListPage<Row> = {
  data: Row[];
  next_cursor: string | null;
  previous_cursor: string | null;
  count: { value: number; is_capped: boolean };
};

/** The state and the page of a list, as `DataTable` takes them. `queryOf` makes the list's query of what the address says. */
export function useListPage<Row, Key extends QueryKey, Page extends ListPage<Row>>(
  filterNames: readonly string[],
  queryOf: (query: Record<string, string>) => UseQueryOptions<Page, Error, Page, Key>,
) {
  const state = useListState(filterNames);
  const list = useKeptQuery(queryOf(listQueryOf(state)));
  return { state, list };
}
