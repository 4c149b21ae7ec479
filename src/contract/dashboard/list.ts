import Type, { type TSchema } from 'typebox';

/** What every list of the dashboard takes and answers, so that one table component shows them all. */
export const LIST_LIMIT_DEFAULT = 50;
const LIST_LIMIT_MAX = 200;
/**
 * A page of a list whose rows have long texts ends here, however few rows that leaves. The event loop does nothing else
 * while an answer is written: 200 rows of the audit log had 48 MB and took it 177 ms.
 */
export const LIST_PAGE_BYTES = 1_048_576;
const CURSOR_LENGTH_LIMIT = 1_000;
const SEARCH_LENGTH_LIMIT = 200;
/** Counting stops here: beyond it a list says "10,000+". */
export const COUNT_LIMIT = 10_000;
/** The same for lists that grow with every order, request and event. */
export const LONG_LIST_COUNT_LIMIT = 1_000;

/** How many rows a list has; a count that stopped at a limit is capped. */
export const Count = Type.Object({ value: Type.Integer(), is_capped: Type.Boolean() });
export type CappedCount = { value: number; isCapped: boolean };

/** `count` stopped at one more than the limit. */
export function cappedCount(count: number, limit: number): CappedCount {
  return { value: Math.min(count, limit), isCapped: count > limit };
}

/**
 * The query parameters that all lists share; each list adds its filters. A filter with several values is one text with
 * commas.
 */
export function listQuery<const Filters extends Record<string, TSchema>>(filters: Filters) {
  return Type.Object({
    q: Type.Optional(Type.String({ maxLength: SEARCH_LENGTH_LIMIT, description: 'Words to search for.' })),
    sort: Type.Optional(Type.String({ maxLength: 50, description: 'A column; with a minus in front, descending.' })),
    after: Type.Optional(Type.String({ maxLength: CURSOR_LENGTH_LIMIT, description: 'next_cursor of a page.' })),
    before: Type.Optional(Type.String({ maxLength: CURSOR_LENGTH_LIMIT, description: 'previous_cursor of a page.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_LIMIT_MAX })),
    ...filters,
  });
}

/** A page of a list. Cursors are null where the list begins and ends. */
export function listOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    data: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
    previous_cursor: Type.Union([Type.String(), Type.Null()]),
    count: Count,
  });
}
