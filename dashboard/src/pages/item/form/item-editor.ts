import { useEffect, useRef, useState } from 'react';
import { ApiFailure, api } from '../../../api/client.ts';
import { showFailure } from '../../../api/failures.ts';
import { queryClient } from '../../../api/queries.ts';
import { useUndo } from '../../audit/undo.ts';
import { type Item, itemQuery } from '../item-queries.ts';
import { type Choice, conflictsOf, merged, takenOver } from './conflicts.ts';
import { changedFields, type ItemValues, valuesOf } from './item-form.ts';
import { problemsOf, untouched } from './item-problems.ts';

/** Colleagues who save all the time must not keep a save going round for ever. */
const ATTEMPTS_LIMIT = 3;

type Basis = { revision: number; values: ItemValues };

/** The form of an item and its save. A live update changes the form only while nothing is edited. */
export function useItemEditor(item: Item) {
  const [base, setBase] = useState<Basis>(() => basisOf(item));
  const [values, setValues] = useState(base.values);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [isSaving, setSaving] = useState(false);
  const [theirs, setTheirs] = useState<Item | null>(null);
  const { offer } = useUndo();
  const isDirty = hasChanges(base.values, values);
  const dirty = useRef(isDirty);
  dirty.current = isDirty;

  const start = (from: Item) => {
    setBase(basisOf(from));
    setValues(valuesOf(from));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new answer of the service starts the form anew.
  useEffect(() => {
    if (!dirty.current) start(item);
  }, [item]);

  /** What was typed while the save was under way stays, as a change of what stands now. */
  const startOver = (from: Item, saved: ItemValues) => {
    setBase(basisOf(from));
    setValues((typed) => merged(saved, typed, valuesOf(from), {}));
  };
  const fresh = () => queryClient.fetchQuery({ ...itemQuery(item.id), staleTime: 0 });

  async function saveOver(from: Basis, wanted: ItemValues, attempt = 1): Promise<void> {
    const problems = problemsOf(item.kind, wanted);
    setErrors(problems);
    if (Object.keys(problems).length > 0) return focusFirstError();
    setSaving(true);
    try {
      const { units, ...changed } = changedFields(from.values, wanted);
      // Orders take units without raising the revision: the service compares what the units were edited from.
      const counted = typeof units === 'number' ? { units, units_from: from.values.units ?? 0 } : {};
      const body = { revision: from.revision, ...changed, ...counted };
      const saved = await api('PATCH /items/{item_id}', { params: { item_id: item.id }, body });
      setTheirs(null);
      offer('Saved.', saved.audit_id);
      startOver(await fresh(), wanted);
    } catch (error) {
      await meet(error, from, wanted, attempt);
    } finally {
      setSaving(false);
    }
  }

  async function meet(error: unknown, from: Basis, wanted: ItemValues, attempt: number): Promise<void> {
    if (!(error instanceof ApiFailure)) throw error;
    if (error.code !== 'changed_meanwhile') {
      if (error.field === undefined) return showFailure(error);
      setErrors({ [error.field]: error.message });
      return focusFirstError();
    }
    try {
      const now = await fresh();
      // The save of a moment ago did arrive; only its answer was lost.
      if (!hasChanges(valuesOf(now), wanted)) {
        offer('Saved.', null);
        return startOver(now, wanted);
      }
      const next = basisOf(now);
      // The colleague worked on other fields: both are kept, and there is nothing to choose.
      if (conflictsOf(from.values, wanted, next.values).length === 0 && attempt < ATTEMPTS_LIMIT) {
        const both = merged(from.values, wanted, next.values, {});
        setBase(next);
        setValues((typed) => merged(wanted, typed, both, {}));
        return await saveOver(next, both, attempt + 1);
      }
      setBase(from);
      setTheirs(now);
    } catch (failure) {
      showFailure(failure);
    }
  }

  async function save(): Promise<void> {
    if (isDirty && !isSaving) await saveOver(base, values);
  }

  /** Saves the person's changes over what the colleague saved, field by field as chosen. */
  async function resolve(choices: Record<string, Choice>): Promise<void> {
    if (theirs === null) return;
    const next = basisOf(theirs);
    const wanted = merged(base.values, values, next.values, choices);
    setBase(next);
    setValues(wanted);
    setTheirs(null);
    if (hasChanges(next.values, wanted)) await saveOver(next, wanted);
  }

  const other = theirs === null ? null : valuesOf(theirs);
  return {
    values,
    errors: { ...problemsOf(item.kind, values, { isTyping: true }), ...errors },
    isDirty,
    isSaving,
    conflict:
      other === null
        ? null
        : {
            conflicts: conflictsOf(base.values, values, other),
            takenOver: takenOver(base.values, values, other),
          },
    change(changes: Partial<ItemValues>) {
      setErrors(untouched(errors, values, changes));
      setValues((before) => ({ ...before, ...changes }));
    },
    discard() {
      setErrors({});
      start(item);
    },
    save,
    resolve,
    closeConflict: () => setTheirs(null),
  };
}

function basisOf(item: Item): Basis {
  return { revision: item.revision, values: valuesOf(item) };
}

function hasChanges(before: ItemValues, after: ItemValues): boolean {
  return Object.keys(changedFields(before, after)).length > 0;
}

/** A long form: the field that is to blame may be far away. */
export function focusFirstError(): void {
  requestAnimationFrame(() => {
    // The frame around an input has the attribute, too, but takes no focus.
    const field = document.querySelector<HTMLElement>('.item-page :is(input, textarea)[aria-invalid="true"]');
    field?.focus();
    field?.scrollIntoView({ block: 'center' });
  });
}
