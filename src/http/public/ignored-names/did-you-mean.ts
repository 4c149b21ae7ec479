/** A name that is longer than this is not compared: it can't be a typo. */
const NAME_LENGTH_LIMIT = 64;
/** The share of the words of both names that must be the same. */
const SHARED_WORDS_MIN = 0.5;

/**
 * The known name that an unknown one was probably meant to be, or null: the same letters written in another way
 * (`listingId`), a typo (`updated_afer`), or some of the same words (`line_items` for `lines`).
 */
export function didYouMean(name: string, known: readonly string[]): string | null {
  if (name.length > NAME_LENGTH_LIMIT) return null;
  const { letters, words } = formsOf(name);
  return (
    only(known.filter((one) => knownForms(one).letters === letters)) ??
    nearest(known, (one) => {
      const limit = Math.floor(Math.max(name.length, one.length) / 4);
      const distance = editDistance(letters, knownForms(one).letters, limit);
      return distance <= limit ? -distance : null;
    }) ??
    nearest(known, (one) => {
      const share = sharedWords(words, knownForms(one).words);
      return share >= SHARED_WORDS_MIN ? share : null;
    })
  );
}

type Forms = { letters: string; words: Set<string> };

function formsOf(name: string): Forms {
  return { letters: lettersOf(name), words: wordsOf(name) };
}

/** Known names are those of the contract, so there are few. */
const formsByKnownName = new Map<string, Forms>();

function knownForms(name: string): Forms {
  const forms = formsByKnownName.get(name) ?? formsOf(name);
  formsByKnownName.set(name, forms);
  return forms;
}

/** The name with the highest score; null if there is none, or if two have it. */
function nearest(names: readonly string[], scoreOf: (name: string) => number | null): string | null {
  const scored = names.flatMap((name) => {
    const score = scoreOf(name);
    return score === null ? [] : [{ name, score }];
  });
  const best = Math.max(...scored.map(({ score }) => score));
  return only(scored.filter(({ score }) => score === best).map(({ name }) => name));
}

function only(names: string[]): string | null {
  return names.length === 1 ? (names[0] ?? null) : null;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** `lineItems` and `line_items` are the words "line" and "item". */
function wordsOf(name: string): Set<string> {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return new Set(words.filter((word) => word !== '').map((word) => word.replace(/(?<=..)s$/, '')));
}

function sharedWords(one: Set<string>, other: Set<string>): number {
  let shared = 0;
  for (const word of other) if (one.has(word)) shared += 1;
  const all = one.size + other.size - shared;
  return all === 0 ? 0 : shared / all;
}

/**
 * How many letters must be added, removed, replaced or swapped with their neighbour to turn one name into the other; infinite
 * if it is more than the limit. Nearly all pairs have nothing in common, and show it after a few letters.
 */
function editDistance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  let lastLeast = 0;
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? Number.POSITIVE_INFINITY) + 1 : Number.POSITIVE_INFINITY,
      );
      current[column] = distance;
      least = Math.min(least, distance);
    }
    // The rows that follow are made of these two.
    if (least > limit && lastLeast > limit) return Number.POSITIVE_INFINITY;
    [beforeLast, last, lastLeast] = [last, current, least];
  }
  return last[other.length] ?? 0;
}
