import type { Cursor, Cursors, ListName } from '../../../channel/reads/cursors.ts';
import { ApiError } from '../../../contract/errors.ts';
import { PAGE_LIMIT_DEFAULT } from '../../../contract/limits.ts';
import { shownText } from '../../../contract/shown-value.ts';
import { parseTimestamp } from '../../../contract/timestamps.ts';

/** A list's query, understood: what to read and after which row. */
export type ListQuery = {
  limit: number;
  since: Date | null;
  /** The status or type filter, in canonical order; null if none was given. */
  filter: string[] | null;
  before: { id: string; at: Date } | null;
  /** Equal for equal questions, however they were written. */
  key: string;
  /** Makes the cursor for the next page, which carries the filters on. */
  cursorAfter(last: { id: string; atMs: number }): string;
};

export type ListQueryInput = {
  list: ListName;
  integrationId: string;
  cursors: Cursors;
  limit: number | undefined;
  after: string | undefined;
  /** The time filter and its parameter's name. */
  since: { name: string; text: string | undefined };
  /** The status or type filter, its parameter's name, and how its text is understood. */
  filter: { name: string; text: string | undefined; parse: (text: string) => string[] };
};

/** The first page's filters go on with its cursor; sending them again is allowed if they are the same. */
export function readListQuery(input: ListQueryInput): ListQuery {
  const { list, integrationId, cursors } = input;
  const cursor = input.after === undefined ? null : cursors.decode(list, integrationId, input.after);
  const sinceMs = input.since.text === undefined ? undefined : parseTimestamp(input.since.text, input.since.name);
  const filter = input.filter.text === undefined ? undefined : input.filter.parse(input.filter.text).join(',');
  if (cursor !== null) {
    assertSame(input.since.name, sinceMs, cursor.sinceMs);
    assertSame(input.filter.name, filter, cursor.filter);
  }
  const effective: Omit<Cursor, 'id' | 'atMs'> = {
    sinceMs: cursor === null ? (sinceMs ?? null) : cursor.sinceMs,
    filter: cursor === null ? (filter ?? null) : cursor.filter,
  };
  const limit = input.limit ?? PAGE_LIMIT_DEFAULT;
  return {
    limit,
    key: JSON.stringify([list, limit, effective.sinceMs, effective.filter, cursor?.id, cursor?.atMs]),
    since: effective.sinceMs === null ? null : new Date(effective.sinceMs),
    filter: effective.filter === null ? null : effective.filter.split(','),
    before: cursor === null ? null : { id: cursor.id, at: new Date(cursor.atMs) },
    cursorAfter: (last) => cursors.encode(list, integrationId, { ...last, ...effective }),
  };
}

/** A comma-separated list of known values, in the order of the enumeration; `any` is all of them. */
export function parseChoices(name: string, allowed: readonly string[], text: string): string[] {
  if (text === 'any') return [...allowed];
  const parts = new Set(text.split(','));
  const wanted = new Set([...parts].map((part) => part.trim()));
  for (const value of wanted) {
    if (!allowed.includes(value)) {
      throw new ApiError('invalid_request', {
        param: name,
        message: `${name} must be a comma-separated list of ${allowed.join(', ')}, or any; it has ${shownText(value)}.`,
      });
    }
  }
  return allowed.filter((value) => wanted.has(value));
}

function assertSame<Value>(name: string, sent: Value | undefined, carried: Value | null): void {
  if (sent === undefined || sent === carried) return;
  throw new ApiError('invalid_request', {
    param: name,
    message: `${name} differs from the one that the cursor was made under; leave it out, or start from the first page.`,
  });
}
