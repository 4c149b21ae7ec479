import type { Queryable } from './database.ts';
import { plannedAnew, type Sql, sql } from './sql.ts';

/**
 * Searches by the beginnings of words, in a table's column `search_words` and its index.
 *
 * The index finds all rows that have a word before it gives the first one, and for the beginning of a word it walks through
 * every word that begins so: `s00` over 100,000 stock numbers took 25 ms. So a few rows are looked at first. If many of them have
 * all words, the index is not asked at all: a page is full after a few rows of the list. Else it is asked for one word alone, the
 * one that fewest of them have, and what it finds is checked for the others.
 */
export type WordSearch = {
  /** All words. */
  query: string;
  /** The word that fewest rows seem to have, which the index is asked for; and the others. */
  rarest: string;
  others: string | null;
  /** Many rows have all words. */
  isCommon: boolean;
};

/** What a search finds: few rows by their ids, or many by their words. */
export type Matches = { ids: readonly string[] } | { words: WordSearch };

/** The rows `r` that are searched: those of a condition, and the order of an index that has them. */
export type Searched = {
  table: Sql;
  condition: Sql;
  order: Sql;
  /** Phone numbers are among the words. */
  hasPhones?: boolean;
};

/** A search that finds no more is answered by their ids. */
export const FOUND_LIMIT = 1_000;
/** So many rows are looked at to see how common the words are. */
const SAMPLE_ROWS = 200;
const COMMON_SHARE = 0.25;
/** More words narrow nothing further. */
const SEARCH_WORDS_LIMIT = 10;
/** So much of the dealer's id stands before each word in the index. */
const SEARCH_PREFIX_LENGTH = 6;
/** Longer words are cut in the index, too. */
const WORD_LENGTH_LIMIT = 100;
const PHONE = /^[+\d][\d\s()./-]{5,}$/;

/** What a search finds; no ids if it has no words. */
export async function matchWords(
  db: Queryable,
  organizationId: string,
  search: string,
  searched: Searched,
): Promise<Matches> {
  const terms = await termsOf(db, organizationId, search, searched.hasPhones === true);
  if (terms.length === 0) return { ids: [] };
  const words = await weighed(db, terms, searched);
  if (words.isCommon) return { words };
  const found = await db.query<{ id: string }>(
    plannedAnew(sql`
      select r.id from ${searched.table} r where ${hasWords(words, sql`r.search_words`)} and ${searched.condition}
      limit ${FOUND_LIMIT + 1}`),
  );
  return found.length > FOUND_LIMIT ? { words } : { ids: found.map(({ id }) => id) };
}

/** Whether a row has the words, by the index. */
export function hasWords({ rarest, others }: WordSearch, column: Sql): Sql {
  const byIndex = sql`${column} @@ ${rarest}::tsquery`;
  return others === null ? byIndex : sql`${byIndex} and ${isIn(others, column)}`;
}

/** Whether a row has the words that was found in another way. The index is not asked. */
export function rowHasWords({ query }: WordSearch, column: Sql): Sql {
  return isIn(query, column);
}

function isIn(query: string, column: Sql): Sql {
  // The server does not look into a case for what an index could answer.
  return sql`case when ${column} @@ ${query}::tsquery then true else false end`;
}

/** How common each word is among a few rows. */
async function weighed(db: Queryable, terms: string[], { table, condition, order }: Searched): Promise<WordSearch> {
  const query = terms.join(' & ');
  const [row] = await db.query<{ rows: number; found: number; counts: number[] }>(
    plannedAnew(sql`
      with sample as materialized (
        select r.search_words from ${table} r where ${condition} order by ${order} limit ${SAMPLE_ROWS})
      select (select count(*)::integer from sample) as rows,
        (select count(*)::integer from sample where search_words @@ ${query}::tsquery) as found,
        array(select (select count(*)::integer from sample where search_words @@ term::tsquery)
          from unnest(${terms}::text[]) with ordinality as asked (term, number) order by number) as counts`),
  );
  const { rows = 0, found = 0, counts = [] } = row ?? {};
  // Of two words that are equally common, the longer one says more.
  const [rarest = '', ...others] = terms
    .map((term, index) => ({ term, count: counts[index] ?? 0 }))
    .sort((one, other) => one.count - other.count || other.term.length - one.term.length)
    .map(({ term }) => term);
  // A sample that is not full is all there is.
  const isCommon = rows === SAMPLE_ROWS && found >= rows * COMMON_SHARE;
  return { query, rarest, others: others.length === 0 ? null : others.join(' & '), isCommon };
}

/** The text of a tsquery in which each word begins a word of the row; null if the search has no words. */
export async function searchQueryOf(db: Queryable, organizationId: string, search: string): Promise<string | null> {
  const terms = await termsOf(db, organizationId, search, true);
  return terms.length === 0 ? null : terms.join(' & ');
}

async function termsOf(db: Queryable, organizationId: string, search: string, hasPhones: boolean): Promise<string[]> {
  // A phone number is one word in the index, however it is typed.
  const text = hasPhones && PHONE.test(search) && !/[a-z]/i.test(search) ? phoneWord(search) : search;
  const [row] = await db.query<{ words: string[] }>(sql`select search_words(${text}) as words`);
  const words = [...new Set(row?.words ?? [])];
  // A single letter begins a word of nearly every row; beside longer words it says nothing.
  const telling = words.some((word) => word.length > 1) ? words.filter((word) => word.length > 1) : words;
  const prefix = searchPrefixOf(organizationId);
  // Neither quotes nor backslashes are left in a word: it was split at them.
  return telling.slice(0, SEARCH_WORDS_LIMIT).map((word) => `'${prefix}:${word.slice(0, WORD_LENGTH_LIMIT)}':*`);
}

/** What stands before each of the dealer's words in an index. */
export function searchPrefixOf(organizationId: string): string {
  return organizationId.slice(-SEARCH_PREFIX_LENGTH);
}

/** With an international prefix it begins as it is stored; without one it may also be a number of another kind. */
function phoneWord(search: string): string {
  return search.startsWith('+') || search.startsWith('00') ? search.replace(/^00/, '').replaceAll(/\D/g, '') : search;
}
