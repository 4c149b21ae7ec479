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
  layout: ListLayout;
  /** The columns shown, if the address names them; empty leaves them to the browser's own memory. */
  columns: readonly string[];
  /** The id of the saved view that was opened; what it holds stands in the address as well. */
  view: string;
};

export type ListLayout = 'table' | 'cards';

export type ListStateSetters = {
  setSearch(q: string): void;
  setSort(sort: string): void;
  /** An empty value takes the filter away. */
  setFilter(name: string, value: string): void;
  /** Several at once, as one step of the browser's history. */
  setFilters(values: Record<string, string>): void;
  setPage(page: { after: string } | { before: string } | null): void;
  setLayout(layout: ListLayout): void;
  setColumns(columns: readonly string[]): void;
  /** Shows what a saved view holds; null goes back to the plain list. */
  openView(view: { id: string; query: string } | null): void;
  /** Takes search and filters away; layout and columns stay. */
  clear(): void;
};

const OWN = ['q', 'sort', 'after', 'before', 'view'] as const;
const LOOK = ['layout', 'columns'] as const;

/** The state and its setters; `filterNames` are the parameters that are filters of this list. */
export function useListState(filterNames: readonly string[]): ListState & ListStateSetters {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  return useMemo(() => {
    /** Typing replaces, so that Back does not undo letter by letter; a page or a filter can be gone back from. */
    function change(values: Record<string, string | undefined>, replace = false): void {
      const isKept = 'after' in values || 'before' in values || 'layout' in values || 'columns' in values;
      const kept = isKept ? {} : { after: undefined, before: undefined };
      // Over what the address says by then: of two quick clicks neither is lost.
      void navigate({ to: '.', search: ((before: object) => ({ ...before, ...kept, ...values })) as never, replace });
    }
    const nothing = Object.fromEntries([...OWN, ...filterNames].map((name) => [name, undefined]));
    const noLook = Object.fromEntries(LOOK.map((name) => [name, undefined]));
    return {
      q: search.q ?? '',
      sort: search.sort ?? '',
      after: search.after ?? '',
      before: search.before ?? '',
      filters: Object.fromEntries(filterNames.flatMap((name) => (search[name] ? [[name, search[name]]] : []))),
      layout: search.layout === 'cards' ? 'cards' : 'table',
      columns: search.columns === undefined || search.columns === '' ? [] : search.columns.split(','),
      view: search.view ?? '',
      setSearch: (q) => change({ q: q === '' ? undefined : q }, true),
      setSort: (sort) => change({ sort: sort === '' ? undefined : sort }),
      setFilter: (name, value) => change({ [name]: value === '' ? undefined : value }),
      setFilters: (values) =>
        change(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value || undefined]))),
      setPage: (page) => change({ after: undefined, before: undefined, ...page }),
      setLayout: (layout) => change({ layout: layout === 'table' ? undefined : layout }),
      setColumns: (columns) => change({ columns: columns.join(',') }, true),
      openView: (view) => {
        const stored = view === null ? {} : Object.fromEntries(new URLSearchParams(view.query));
        change({ ...nothing, ...noLook, ...stored, view: view?.id });
      },
      clear: () => change(nothing),
    };
  }, [search, navigate, filterNames]);
}

/** The query of the list's operation, from the state. */
export function listQueryOf({ q, sort, after, before, filters }: ListState): Record<string, string> {
  const all = { q, sort, after, before, ...filters };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

/** Search and filters alone: what "all that match" means. */
export function matchQueryOf({ q, filters }: ListState): Record<string, string> {
  return Object.fromEntries(Object.entries({ q, ...filters }).filter(([, value]) => value !== ''));
}

export function isFiltered({ q, filters }: ListState): boolean {
  return q !== '' || Object.keys(filters).length > 0;
}

/** What a saved view stores: everything that the address says but the page. Names are sorted, so that equal views are. */
export function viewQueryOf(state: ListState, columns: readonly string[]): string {
  const { q, sort, filters, layout } = state;
  const all = { q, sort, ...filters, layout: layout === 'table' ? '' : layout, columns: columns.join(',') };
  return canonicalQuery(all);
}

export function canonicalQuery(values: Record<string, string>): string {
  const entries = Object.entries(values).filter(([, value]) => value !== '');
  return new URLSearchParams(entries.sort(([one], [other]) => (one < other ? -1 : 1))).toString();
}
