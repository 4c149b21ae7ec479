import { type ItemValues, isSame } from './item-form.ts';

/** A field that the person and a colleague have changed, each to another value. */
export type Conflict = { field: string; mine: unknown; theirs: unknown };
export type Choice = 'mine' | 'theirs';

/** Attributes beside the other fields: no attribute has the name of one. */
type Flat = Record<string, unknown>;

export function conflictsOf(base: ItemValues, mine: ItemValues, theirs: ItemValues): Conflict[] {
  const [before, own, other] = [flat(base), flat(mine), flat(theirs)];
  return Object.keys(own)
    .filter((field) => !isSame(before[field], own[field]) && !isSame(before[field], other[field]))
    .filter((field) => !isSame(own[field], other[field]))
    .map((field) => ({ field, mine: own[field], theirs: other[field] }));
}

/** What the colleague changed where the person did not: it is kept without asking. */
export function takenOver(base: ItemValues, mine: ItemValues, theirs: ItemValues): string[] {
  const [before, own, other] = [flat(base), flat(mine), flat(theirs)];
  return Object.keys(other).filter(
    (field) => isSame(before[field], own[field]) && !isSame(before[field], other[field]),
  );
}

/** Lays the person's own changes over what stands now, but for the fields that the colleague's value was chosen for. */
export function merged(
  base: ItemValues,
  mine: ItemValues,
  theirs: ItemValues,
  choices: Readonly<Record<string, Choice>>,
): ItemValues {
  const [before, own] = [flat(base), flat(mine)];
  const pick = (now: Flat): Flat =>
    Object.fromEntries(
      Object.entries(now).map(([field, value]) => {
        const isMine = !isSame(before[field], own[field]) && choices[field] !== 'theirs';
        return [field, isMine ? own[field] : value];
      }),
    );
  const { attributes, ...fields } = theirs;
  return {
    ...(pick(fields) as Omit<ItemValues, 'attributes'>),
    attributes: pick({ ...mine.attributes, ...attributes }),
  };
}

function flat({ attributes, ...rest }: ItemValues): Flat {
  return { ...attributes, ...rest };
}
