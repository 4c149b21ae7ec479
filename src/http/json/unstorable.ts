import { CompactJson, type Unstorable } from '../../contract/compact-json.ts';
import { ApiError } from '../../contract/errors.ts';
import { partOf, type Shape } from './shape.ts';

export const BAD_TEXT: Unstorable = {
  path: '',
  what: 'a character that cannot be stored: NUL or an unpaired surrogate',
};
export const BAD_NUMBER: Unstorable = { path: '', what: 'a number that is too large to be stored' };

/**
 * PostgreSQL's text holds neither NUL nor half a surrogate pair, and JSON has no infinite numbers; refusing them beats
 * storing something else.
 */
export function assertStorable(value: unknown, shape: Shape): void {
  const fault = findUnstorable(value, shape);
  if (fault === null) return;
  const { path: param, what } = fault;
  throw new ApiError('invalid_request', {
    message: `${param || 'The body'} has ${what}.`,
    ...(param === '' ? {} : { param }),
  });
}

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

export function within(head: string, { path, what }: Unstorable): Unstorable {
  return { path: path === '' || path.startsWith('[') ? head + path : `${head}.${path}`, what };
}

/** The first value that can't be stored, its path put together on the way back; null if there is none. */
function findUnstorable(value: unknown, shape: Shape): Unstorable | null {
  if (typeof value === 'string') return isStorable(value) ? null : BAD_TEXT;
  if (typeof value === 'number') return Number.isFinite(value) ? null : BAD_NUMBER;
  if (value === null || typeof value !== 'object') return null;
  if (value instanceof CompactJson) return value.fault;
  if (Array.isArray(value)) {
    const items = partOf(shape, 'items') ?? {};
    // By index: listing the entries of an array of millions takes seconds.
    for (let index = 0; index < value.length; index++) {
      const fault = findUnstorable(value[index], items);
      if (fault !== null) return within(`[${index}]`, fault);
    }
    return null;
  }
  return findInObject(value as Record<string, unknown>, partOf(shape, 'properties'));
}

/** Of a known shape only the known fields are looked at: a client may send a million others, which nobody reads. */
function findInObject(value: Record<string, unknown>, known: Record<string, Shape> | undefined): Unstorable | null {
  for (const key of Object.keys(known ?? value)) {
    if (known !== undefined && !Object.hasOwn(value, key)) continue;
    // A field whose very name is at fault can't be named; its parent is.
    if (!isStorable(key)) return BAD_TEXT;
    const fault = findUnstorable(value[key], known?.[key] ?? {});
    if (fault !== null) return within(key, fault);
  }
  return null;
}
