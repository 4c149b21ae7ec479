import { ApiError } from '../contract/errors.ts';
import { JSON_DEPTH_LIMIT } from '../contract/limits.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENERS = new Set([0x5b, 0x7b]);
const CLOSERS = new Set([0x5d, 0x7d]);

/** Parses a body that must be JSON. An empty one counts as {}: the schema then says which field is missing. */
export function parseJsonBody(bytes: Buffer, contentType: string | undefined): unknown {
  if (bytes.length === 0) return {};
  if (!isJsonType(contentType)) {
    throw new ApiError('invalid_json', { message: 'The body must be sent with "Content-Type: application/json".' });
  }
  assertShallow(bytes);
  const value = parse(bytes);
  assertStorable(value, '');
  return value;
}

function isJsonType(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return type.trim() === 'application/json' && isUtf8;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    const isEncoding = error instanceof TypeError;
    throw new ApiError('invalid_json', {
      message: isEncoding ? 'The body is not valid UTF-8.' : 'The body is not valid JSON.',
      cause: error,
    });
  }
}

/** Counts brackets outside strings. JSON.parse itself has no trouble with depth; what walks its result may have. */
function assertShallow(bytes: Buffer): void {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    if (isInString) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (OPENERS.has(byte)) {
      depth += 1;
      if (depth > JSON_DEPTH_LIMIT) {
        throw new ApiError('invalid_json', { message: `The body is nested deeper than ${JSON_DEPTH_LIMIT} levels.` });
      }
    } else if (CLOSERS.has(byte)) depth -= 1;
  }
}

/** PostgreSQL's text holds neither NUL nor half a surrogate pair; refusing them beats storing something else. */
function assertStorable(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed()) {
      throw new ApiError('invalid_request', {
        message: `${path || 'The body'} has a character that cannot be stored: NUL or an unpaired surrogate.`,
        ...(path === '' ? {} : { param: path }),
      });
    }
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) assertStorable(item, `${path}[${index}]`);
  } else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      assertStorable(key, path);
      assertStorable(item, path === '' ? key : `${path}.${key}`);
    }
  }
}
