import type { Queryable } from './database.ts';
import { sql } from './sql.ts';

/** A search that finds more shows only these; another word narrows it. */
export const FOUND_LIMIT = 1_000;
/** More words narrow nothing further. */
const SEARCH_WORDS_LIMIT = 10;
/** So much of the dealer's id stands before each word in the index. */
const SEARCH_PREFIX_LENGTH = 6;
/** Longer words are cut in the index, too. */
const WORD_LENGTH_LIMIT = 100;
const PHONE = /^[+\d][\d\s()./-]{5,}$/;

/** The text of a tsquery in which each word begins a word of the row; null if the search has no words. */
export async function searchQueryOf(db: Queryable, organizationId: string, search: string): Promise<string | null> {
  // A phone number is one word in the index, however it is typed.
  const text = PHONE.test(search) && !/[a-z]/i.test(search) ? phoneWord(search) : search;
  const [row] = await db.query<{ words: string[] }>(sql`select search_words(${text}) as words`);
  const words = [...new Set(row?.words ?? [])];
  const telling = words.some((word) => word.length > 1) ? words.filter((word) => word.length > 1) : words;
  if (telling.length === 0) return null;
  const prefix = organizationId.slice(-SEARCH_PREFIX_LENGTH);
  return telling
    .slice(0, SEARCH_WORDS_LIMIT)
    .map((word) => `'${prefix}:${word.slice(0, WORD_LENGTH_LIMIT)}':*`)
    .join(' & ');
}

/** With an international prefix it begins as it is stored; without one it may also be a number of another kind. */
function phoneWord(search: string): string {
  return search.startsWith('+') || search.startsWith('00') ? search.replace(/^00/, '').replaceAll(/\D/g, '') : search;
}
