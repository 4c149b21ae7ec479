import { useState } from 'react';
import { type ListState, matchQueryOf } from './list-state.ts';

/** What was selected: single rows, or everything that matches the search and the filters. */
export type Selection = {
  ids: string[];
  isAllMatching: boolean;
  /** How many; counting all that match stops at some point. */
  count: { value: number; is_capped: boolean };
  /** Search and filters, for "all that match". */
  match: Record<string, string>;
  has(id: string): boolean;
  /** With `isRange`, as shift has it: all rows from the one before to this one. */
  toggle(index: number, isRange: boolean): void;
  /** All rows of this page, or none. */
  togglePage(): void;
  selectAllMatching(): void;
  clear(): void;
  /** On a phone boxes appear only while somebody selects. */
  isSelecting: boolean;
  setSelecting(isSelecting: boolean): void;
};

type Chosen = { of: string; ids: ReadonlySet<string>; isAllMatching: boolean; last: number };

/** A selection belongs to a search and its filters; it stays while somebody pages, and ends with another search. */
export function useSelection(
  state: ListState,
  pageIds: readonly string[],
  total: { value: number; is_capped: boolean } | undefined,
): Selection {
  const match = matchQueryOf(state);
  const of = JSON.stringify(match);
  const nothing: Chosen = { of, ids: new Set(), isAllMatching: false, last: -1 };
  const [stored, setChosen] = useState(nothing);
  const [isSelecting, setSelecting] = useState(false);
  const chosen = stored.of === of ? stored : nothing;
  const isWholePage = pageIds.length > 0 && pageIds.every((id) => chosen.ids.has(id));
  return {
    ids: [...chosen.ids],
    isAllMatching: chosen.isAllMatching,
    count: chosen.isAllMatching && total !== undefined ? total : { value: chosen.ids.size, is_capped: false },
    match,
    has: (id) => chosen.isAllMatching || chosen.ids.has(id),
    toggle(index, isRange) {
      const ids = new Set(chosen.isAllMatching ? pageIds : chosen.ids);
      const id = pageIds[index] ?? '';
      const isOn = !ids.has(id);
      const from = isRange && chosen.last >= 0 ? chosen.last : index;
      for (const one of pageIds.slice(Math.min(from, index), Math.max(from, index) + 1)) {
        if (isOn) ids.add(one);
        else ids.delete(one);
      }
      setChosen({ of, ids, isAllMatching: false, last: index });
    },
    togglePage() {
      const ids = new Set(chosen.ids);
      for (const id of pageIds) {
        if (isWholePage) ids.delete(id);
        else ids.add(id);
      }
      setChosen({ of, ids, isAllMatching: false, last: -1 });
    },
    selectAllMatching: () => setChosen({ ...chosen, of, ids: new Set(pageIds), isAllMatching: true }),
    clear() {
      setChosen(nothing);
      setSelecting(false);
    },
    isSelecting,
    setSelecting,
  };
}
