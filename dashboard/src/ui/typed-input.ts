import { type RefCallback, useCallback, useRef } from 'react';

type Field = HTMLInputElement | HTMLTextAreaElement;
/** What a field held before somebody typed, in all the forms in which it was shown; and whether anybody has. */
type Untyped = { values: Set<string>; isTouched: boolean };
export type TypedInput = { ref: RefCallback<HTMLElement>; isThere: () => boolean };

/** Not a search, which is nothing that could be lost, nor a choice of what the other fields mean. */
const OTHERS = /^(search|radio|button|submit)$/;
const CHECKED = /^(checkbox)$/;

/** Whether somebody has typed or chosen something in the fields of a form or dialog, and it is still there. */
export function useTypedInput(): TypedInput {
  const fields = useRef(new Map<Field, Untyped>());
  const ref = useCallback((content: HTMLElement | null) => {
    const known = fields.current;
    known.clear();
    if (content === null) return;
    const note = ({ target, type }: Event) => {
      if (!isField(target)) return;
      const untyped = known.get(target) ?? { values: new Set(), isTouched: false };
      known.set(target, untyped);
      // A click may change a box before it has the focus.
      if (type === 'input') {
        if (untyped.values.size === 0 && CHECKED.test(target.type)) untyped.values.add(String(!isChecked(target)));
        untyped.isTouched = true;
      } else if (!untyped.isTouched) untyped.values.add(textOf(target));
    };
    const events = ['focusin', 'beforeinput', 'input'];
    for (const name of events) content.addEventListener(name, note);
    return () => {
      known.clear();
      for (const name of events) content.removeEventListener(name, note);
    };
  }, []);
  const isThere = useCallback(
    () =>
      [...fields.current].some(
        ([field, { values, isTouched }]) =>
          // Choices of a list come without an event of their own.
          field.isConnected && (isTouched || isChoice(field)) && !values.has(textOf(field)),
      ),
    [],
  );
  return { ref, isThere };
}

function isField(target: EventTarget | null): target is Field {
  return (
    (target instanceof HTMLInputElement && !OTHERS.test(target.type) && !target.readOnly) ||
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && isChoice(target))
  );
}

function isChoice(field: Field): boolean {
  return field.getAttribute('aria-haspopup') === 'listbox';
}

function isChecked(field: Field): boolean {
  return field instanceof HTMLInputElement && field.checked;
}

function textOf(field: Field): string {
  return CHECKED.test(field.type) ? String(isChecked(field)) : field.value;
}
