import { type RefObject, useEffect, useRef } from 'react';

const ROW = 'li, fieldset';
const CONTROL = 'button, a, input';
/** What can take the focus; a heading with a tabindex can, too. */
const FOCUSABLE = 'button:not(:disabled), [tabindex]:not([aria-hidden])';

/** Where the focus was: in which row of the list, by its key and place, and on which of the row's controls. */
type Place = { key: string | null; row: number; control: number };

/**
 * Keeps the focus in a list when its rows go or are replaced: whoever works with the keyboard would begin at the top of the page
 * again. It goes to the same control of the same row (by `data-row-key`), or of the row that has moved up; if none is left, to
 * the first control of the section. `version` changes with the rows.
 */
export function useKeptFocus(section: RefObject<HTMLElement | null>, version: string): void {
  const last = useRef<Place | null>(null);
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      // A dialog gives the focus back.
      if (!(target instanceof HTMLElement) || target.closest('[role="dialog"]') !== null) return;
      last.current = section.current?.contains(target) ? placeOf(section.current, target) : null;
    };
    document.addEventListener('focusin', note);
    return () => document.removeEventListener('focusin', note);
  }, [section]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows have changed.
  useEffect(() => {
    if (section.current === null) return;
    const active = document.activeElement;
    const isLost = active === null || active === document.body;
    if (isLost && last.current !== null) controlAt(section.current, last.current)?.focus();
    // Its row may have moved without the focus moving.
    else if (active instanceof HTMLElement && section.current.contains(active))
      last.current = placeOf(section.current, active);
  }, [version]);
}

function placeOf(section: HTMLElement, control: HTMLElement): Place {
  const row = control.closest<HTMLElement>(ROW);
  if (row === null) return { key: null, row: -1, control: -1 };
  const controls = [...row.querySelectorAll(CONTROL)];
  const rows = [...section.querySelectorAll(ROW)];
  return { key: row.dataset.rowKey ?? null, row: rows.indexOf(row), control: controls.indexOf(control) };
}

function controlAt(section: HTMLElement, { key, row, control }: Place): HTMLElement | null {
  const rows = [...section.querySelectorAll<HTMLElement>(ROW)];
  const same = key === null ? undefined : rows.find((one) => one.dataset.rowKey === key);
  const found = same ?? (row === -1 ? undefined : rows[Math.min(row, rows.length - 1)]);
  const controls = found === undefined ? [] : [...found.querySelectorAll<HTMLElement>(CONTROL)];
  return controls[control] ?? section.querySelector<HTMLElement>(FOCUSABLE);
}
