import { type CappedCount, LIST_LIMIT_DEFAULT } from '../../../contract/dashboard/list.ts';
import { DomainError } from '../../../contract/domain-error.ts';
import { sqlState } from '../../../db/database.ts';
import type { RowsWithin } from '../../../db/large-pages.ts';

/** Where a page of a keyset list begins or ends: the value it is sorted by, as text, and the id of its row. */
export type Position = { value: string | null; id: string };

/** Which page is asked for: behind a position, before it, or the first one. */
export type PageRequest = { from: { position: Position; isBackwards: boolean } | null; limit: number };

type Cursors = { next_cursor: string | null; previous_cursor: string | null };
type PageFacts = Cursors & { count: { value: number; is_capped: boolean } };
type PageQuery = { after?: string | undefined; before?: string | undefined; limit?: number | undefined };

/** A cursor belongs to the order it was made in; with another one it would skip rows in silence. */
export function pageRequestOf(query: PageQuery, sort: string): PageRequest {
  const limit = query.limit ?? LIST_LIMIT_DEFAULT;
  if (query.after !== undefined && query.before !== undefined) {
    throw new DomainError('invalid_input', 'A page lies after a cursor or before one, not both.', 'after');
  }
  const cursor = query.after ?? query.before;
  if (cursor === undefined) return { from: null, limit };
  return { from: { position: readCursor(cursor, sort), isBackwards: query.before !== undefined }, limit };
}

/** The order that a list is asked for, of those that it has; the first one is the default. */
export function sortOf<Sort extends string>(text: string | undefined, sorts: readonly [Sort, ...Sort[]]): Sort {
  const sort = text === undefined ? sorts[0] : sorts.find((one) => one === text);
  if (sort === undefined) throw new DomainError('invalid_input', 'The list cannot be sorted by that.', 'sort');
  return sort;
}

/**
 * Reads a page of a list, and beside it counts all rows that match. `read` asks for one row more than `limit`, so that we
 * know whether there are more; a list that is cut off by bytes says so itself. `page` is what the answer says besides its
 * rows.
 */
export async function readPage<Row>(
  request: PageRequest,
  sort: string,
  list: { read(): Promise<Row[] | RowsWithin<Row>>; count(): Promise<CappedCount>; positionOf(row: Row): Position },
): Promise<{ rows: Row[]; page: PageFacts }> {
  const [found, count] = await Promise.all([readingPage(request, list.read), list.count()]);
  const part = Array.isArray(found) ? withoutExtra(found, request) : found;
  const cursors = cursorsOf(part, request, sort, list.positionOf);
  const { rows } = part;
  return { rows, page: { ...cursors, count: presentCount(count) } };
}

/**
 * Runs the query of a page. A cursor that somebody made by hand may hold a text that is no valid value of the column.
 */
async function readingPage<Rows>({ from }: PageRequest, read: () => Promise<Rows>): Promise<Rows> {
  try {
    return await read();
  } catch (error) {
    if (from !== null && sqlState(error)?.startsWith(DATA_EXCEPTION)) throw invalidCursor();
    throw error;
  }
}

/** The class of SQLSTATE codes for an invalid value. */
const DATA_EXCEPTION = '22';

/** Drops the extra row that was read to see whether there are more. Rows that were read backwards have it in front. */
function withoutExtra<Row>(rows: Row[], { from, limit }: PageRequest): RowsWithin<Row> {
  if (rows.length <= limit) return { rows, isMore: false };
  return { rows: from?.isBackwards ? rows.slice(1) : rows.slice(0, limit), isMore: true };
}

/**
 * The cursors of the pages before and after. `rows` are in the order of the list, also when they were read backwards; then
 * there are more in front of them.
 */
function cursorsOf<Row>(
  { rows, isMore }: RowsWithin<Row>,
  { from }: PageRequest,
  sort: string,
  positionOf: (row: Row) => Position,
): Cursors {
  const isBackwards = from?.isBackwards ?? false;
  const hasNext = isBackwards || isMore;
  const hasPrevious = isBackwards ? isMore : from !== null;
  const first = rows.at(0);
  const last = rows.at(-1);
  return {
    next_cursor: hasNext && last !== undefined ? writeCursor(positionOf(last), sort) : null,
    previous_cursor: hasPrevious && first !== undefined ? writeCursor(positionOf(first), sort) : null,
  };
}

function writeCursor({ value, id }: Position, sort: string): string {
  return Buffer.from(JSON.stringify([sort, value, id])).toString('base64url');
}

function readCursor(text: string, sort: string): Position {
  try {
    const [madeFor, value, id] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown[];
    const isRight = madeFor === sort && (value === null || typeof value === 'string') && typeof id === 'string';
    if (isRight && isStorable(value ?? '') && isStorable(id)) return { value: value ?? null, id };
  } catch {
    // The text is not a cursor at all.
  }
  throw invalidCursor();
}

function invalidCursor(): DomainError {
  return new DomainError('invalid_cursor', 'This page is no longer there. Go back to the first page.', 'after');
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

export function presentCount({ value, isCapped }: CappedCount): { value: number; is_capped: boolean } {
  return { value, is_capped: isCapped };
}
