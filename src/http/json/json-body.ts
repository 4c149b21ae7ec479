import { ApiError } from '../../contract/errors.ts';
import { JSON_DEPTH_LIMIT } from '../../contract/limits.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ARRAY_OPEN = 0x5b;
const ARRAY_CLOSE = 0x5d;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
const LOWER_U = 0x75;

/** As much of a JSON schema as tells which fields are known; an object without `properties` may have any. */
export type Shape = { type?: string; anyOf?: Shape[]; properties?: Record<string, Shape>; items?: Shape };

/**
 * Parses a body that must be JSON. An empty one counts as {}: the schema then says which field is missing. What could
 * not be stored is refused here, unless it is in a field that the shape does not know, which nobody reads.
 */
export function parseJsonBody(bytes: Buffer, contentType: string | undefined, shape: Shape = {}): unknown {
  if (bytes.length === 0) return {};
  if (!isJsonType(contentType)) {
    throw new ApiError('invalid_json', { message: 'The body must be sent with "Content-Type: application/json".' });
  }
  const mayBeUnstorable = scan(bytes);
  const value = parse(decode(bytes));
  if (mayBeUnstorable) assertStorable(value, shape);
  return value;
}

/** A number of fewer digits than this, without an exponent, is finite. */
const OVERFLOW_DIGITS = 300;

export function isJsonType(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return type.trim() === 'application/json' && isUtf8;
}

/**
 * One pass over the bytes, each looked at once: a pattern such as \d{300} would look at a digit 300 times. Counts the
 * brackets outside strings, because what walks the parsed value may have trouble with depth, and tells whether the text
 * may hold what can't be stored: in valid UTF-8 and valid JSON only an escape can spell such a character, and only an
 * exponent or very many digits a number without end.
 */
function scan(bytes: Buffer): boolean {
  let mayBeUnstorable = false;
  let depth = 0;
  let digits = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte !== undefined && byte >= DIGIT_0 && byte <= DIGIT_9) {
      digits += 1;
      if (digits === OVERFLOW_DIGITS) mayBeUnstorable = true;
      continue;
    }
    if (digits > 0 && (byte === LOWER_E || byte === UPPER_E)) mayBeUnstorable = true;
    digits = 0;
    if (byte === QUOTE) {
      const end = endOfString(bytes, index + 1);
      mayBeUnstorable ||= end.hasUnicodeEscape;
      index = end.index;
    } else if (byte === ARRAY_OPEN || byte === OBJECT_OPEN) {
      depth += 1;
      if (depth > JSON_DEPTH_LIMIT) {
        throw new ApiError('invalid_json', { message: `The body is nested deeper than ${JSON_DEPTH_LIMIT} levels.` });
      }
    } else if (byte === ARRAY_CLOSE || byte === OBJECT_CLOSE) depth -= 1;
  }
  return mayBeUnstorable;
}

function endOfString(bytes: Buffer, start: number): { index: number; hasUnicodeEscape: boolean } {
  let hasUnicodeEscape = false;
  let index = start;
  for (; index < bytes.length && bytes[index] !== QUOTE; index++) {
    if (bytes[index] !== BACKSLASH) continue;
    index += 1;
    if (bytes[index] === LOWER_U) hasUnicodeEscape = true;
  }
  return { index, hasUnicodeEscape };
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.', cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError('invalid_json', { cause });
  }
}

/**
 * PostgreSQL's text holds neither NUL nor half a surrogate pair, and JSON has no infinite numbers; refusing them beats
 * storing something else.
 */
function assertStorable(value: unknown, shape: Shape): void {
  const fault = findUnstorable(value, shape);
  if (fault === null) return;
  const { path: param, what } = fault;
  throw new ApiError('invalid_request', {
    message: `${param || 'The body'} has ${what}.`,
    ...(param === '' ? {} : { param }),
  });
}

type Unstorable = { path: string; what: string };

const BAD_TEXT: Unstorable = { path: '', what: 'a character that cannot be stored: NUL or an unpaired surrogate' };
const BAD_NUMBER: Unstorable = { path: '', what: 'a number that is too large to be stored' };

/** The first value that can't be stored, its path put together on the way back; null if there is none. */
function findUnstorable(value: unknown, shape: Shape): Unstorable | null {
  if (typeof value === 'string') return isStorable(value) ? null : BAD_TEXT;
  if (typeof value === 'number') return Number.isFinite(value) ? null : BAD_NUMBER;
  if (value === null || typeof value !== 'object') return null;
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

/** Of a shape that may also be null, or of the shape itself. */
function partOf<Name extends 'items' | 'properties'>(shape: Shape, name: Name): Shape[Name] | undefined {
  return shape[name] ?? shape.anyOf?.find((one) => one[name] !== undefined)?.[name];
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function within(head: string, { path, what }: Unstorable): Unstorable {
  return { path: path === '' || path.startsWith('[') ? head + path : `${head}.${path}`, what };
}
