import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';

/** What a list shows, as its address says: words, order, page and filters. Back, reload and a sent link show the same. */
export type ListState = {
  q: string;
  /** A column; with a minus in front, descending. Empty is the list's own order. */
  sort: string;
  after: string;
  before: string;
  filters: Record<string, string>;
};

export type ListStateSetters = {
  setSearch(q: string): void;
  setSort(sort: string): void;
  /** An empty value takes the filter away. */
  setFilter(name: string, value: string): void;
  /** Several at once, as one step of the browser's history. */
  setFilters(values: Record<string, string>): void;
  setPage(page: { after: string } | { before: string } | null): void;
  clear(): void;
};

const OWN = ['q', 'sort', 'after', 'before'] as const;

/** The state and its setters; `filterNames` are the parameters that are filters of this list. */
export function useListState(filterNames: readonly string[]): ListState & ListStateSetters {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  return useMemo(() => {
    /** Typing replaces, so that Back does not undo letter by letter; a page or a filter can be gone back from. */
    function change(values: Record<string, string | undefined>, replace = false): void {
      const isPage = 'after' in values || 'before' in values;
      const kept = isPage ? search : { ...search, after: undefined, before: undefined };
      void navigate({ to: '.', search: { ...kept, ...values } as never, replace });
    }
    const nothing = Object.fromEntries([...OWN, ...filterNames].map((name) => [name, undefined]));
    return {
      q: search.q ?? '',
      sort: search.sort ?? '',
      after: search.after ?? '',
      before: search.before ?? '',
      filters: Object.fromEntries(filterNames.flatMap((name) => (search[name] ? [[name, search[name]]] : []))),
      setSearch: (q) => change({ q: q === '' ? undefined : q }, true),
      setSort: (sort) => change({ sort: sort === '' ? undefined : sort }),
      setFilter: (name, value) => change({ [name]: value === '' ? undefined : value }),
      setFilters: (values) =>
        change(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value || undefined]))),
      setPage: (page) => change({ after: undefined, before: undefined, ...page }),
      clear: () => change(nothing),
    };
  }, [search, navigate, filterNames]);
}

/** The query of the list's operation, from the state. */
export function listQueryOf({ q, sort, after, before, filters }: ListState): Record<string, string> {
  const all = { q, sort, after, before, ...filters };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}
