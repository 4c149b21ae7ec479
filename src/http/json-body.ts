import { ApiError } from '../contract/errors.ts';
import { JSON_DEPTH_LIMIT } from '../contract/limits.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ARRAY_OPEN = 0x5b;
const ARRAY_CLOSE = 0x5d;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;

/** Parses a body that must be JSON. An empty one counts as {}: the schema then says which field is missing. */
export function parseJsonBody(bytes: Buffer, contentType: string | undefined): unknown {
  if (bytes.length === 0) return {};
  if (!isJsonType(contentType)) {
    throw new ApiError('invalid_json', { message: 'The body must be sent with "Content-Type: application/json".' });
  }
  assertShallow(bytes);
  const text = decode(bytes);
  const value = parse(text);
  // In valid UTF-8 and valid JSON, only an escape can spell what text must not hold.
  if (text.includes('\\u')) assertStorable(value);
  return value;
}

function isJsonType(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return type.trim() === 'application/json' && isUtf8;
}

/** Counts brackets outside strings. JSON.parse itself has no trouble with depth; what walks its result may have. */
function assertShallow(bytes: Buffer): void {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (isInString) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === ARRAY_OPEN || byte === OBJECT_OPEN) {
      depth += 1;
      if (depth > JSON_DEPTH_LIMIT) {
        throw new ApiError('invalid_json', { message: `The body is nested deeper than ${JSON_DEPTH_LIMIT} levels.` });
      }
    } else if (byte === ARRAY_CLOSE || byte === OBJECT_CLOSE) depth -= 1;
  }
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

/** PostgreSQL's text holds neither NUL nor half a surrogate pair; refusing them beats storing something else. */
function assertStorable(value: unknown): void {
  const param = unstorablePath(value);
  if (param === null) return;
  throw new ApiError('invalid_request', {
    message: `${param || 'The body'} has a character that cannot be stored: NUL or an unpaired surrogate.`,
    ...(param === '' ? {} : { param }),
  });
}

/** The path of the first text that can't be stored, put together on the way back; null if there is none. */
function unstorablePath(value: unknown): string | null {
  if (typeof value === 'string') return isStorable(value) ? null : '';
  if (value === null || typeof value !== 'object') return null;
  if (Array.isArray(value)) {
    // By index: listing the entries of an array of millions takes seconds.
    for (let index = 0; index < value.length; index++) {
      const path = unstorablePath(value[index]);
      if (path !== null) return joined(`[${index}]`, path);
    }
    return null;
  }
  for (const [key, item] of Object.entries(value)) {
    // A field whose very name is at fault can't be named; its parent is.
    if (!isStorable(key)) return '';
    const path = unstorablePath(item);
    if (path !== null) return joined(key, path);
  }
  return null;
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function joined(head: string, tail: string): string {
  return tail === '' || tail.startsWith('[') ? head + tail : `${head}.${tail}`;
}
