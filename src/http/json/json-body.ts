import type { TimeSlices } from '../../concurrency/time-slices.ts';
import { ApiError } from '../../contract/errors.ts';
import { JSON_DEPTH_LIMIT } from '../../contract/limits.ts';
import { readKnownFields } from './known-fields.ts';
import type { Shape } from './shape.ts';
import { findUnknownNames, UnknownNames } from './unknown-names.ts';
import { assertStorable } from './unstorable.ts';

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

/** A larger body is parsed in slices: 128 KiB of the worst JSON take JSON.parse about 25 ms. */
export const LARGE_BODY_BYTES = 131_072;
const SCAN_STEP_BYTES = 131_072;

export type ReadOptions = {
  slices: TimeSlices;
  /** Whose body it is: large bodies of different keys take turns. */
  key: string;
  shape: Shape;
  /** Collects the names that the shape does not know. */
  unknown?: UnknownNames;
};

/** Parses a body at once, or a large one in slices. */
export function readJsonBody(bytes: Buffer, contentType: string | undefined, options: ReadOptions): unknown {
  const { slices, key, shape, unknown } = options;
  if (bytes.length <= LARGE_BODY_BYTES) return parseJsonBody(bytes, contentType, shape, unknown);
  return slices.run(key, parseJsonBodySteps(bytes, contentType, shape, unknown));
}

/**
 * Parses a body that must be JSON. An empty one counts as {}: the schema then says which field is missing. What could
 * not be stored is refused here, unless it is in a field that the shape does not know, which nobody reads.
 */
export function parseJsonBody(
  bytes: Buffer,
  contentType: string | undefined,
  shape: Shape = {},
  unknown?: UnknownNames,
): unknown {
  if (bytes.length === 0) return {};
  assertJsonType(contentType);
  const { mayBeUnstorable } = scan(bytes, bytes.length);
  const value = parse(decode(bytes));
  if (unknown !== undefined) findUnknownNames(value, shape, unknown);
  if (mayBeUnstorable) assertStorable(value, shape);
  return value;
}

/**
 * The same for a large body, in steps between which the event loop may serve others. The value has the known fields
 * alone, and what may have any shape is a CompactJson. What is refused is refused as by `parseJsonBody`.
 */
export function* parseJsonBodySteps(
  bytes: Buffer,
  contentType: string | undefined,
  shape: Shape = {},
  unknown = new UnknownNames(),
): Generator<void, unknown> {
  assertJsonType(contentType);
  let scanned: Scan | undefined;
  for (let until = 0; until < bytes.length; ) {
    until = Math.min(bytes.length, until + SCAN_STEP_BYTES);
    scanned = scan(bytes, until, scanned);
    yield;
  }
  const text = decode(bytes);
  yield;
  const value = yield* refusingSyntax(readKnownFields(text, shape, unknown));
  if (scanned?.mayBeUnstorable) assertStorable(value, shape);
  return value;
}

/** A number of fewer digits than this, without an exponent, is finite. */
const OVERFLOW_DIGITS = 300;

function assertJsonType(contentType: string | undefined): void {
  if (isJsonType(contentType)) return;
  throw new ApiError('invalid_json', { message: 'The body must be sent with "Content-Type: application/json".' });
}

export function isJsonType(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return type.trim() === 'application/json' && isUtf8;
}

/** How far a scan has come. */
type Scan = { index: number; depth: number; digits: number; isInString: boolean; mayBeUnstorable: boolean };

const NOTHING_SCANNED: Scan = { index: 0, depth: 0, digits: 0, isInString: false, mayBeUnstorable: false };

/**
 * One pass over the bytes, each looked at once: a pattern such as \d{300} would look at a digit 300 times. Counts the
 * brackets outside strings, because what walks the parsed value may have trouble with depth, and tells whether the text
 * may hold what can't be stored: in valid UTF-8 and valid JSON only an escape can spell such a character, and only an
 * exponent or very many digits a number without end. A large body is scanned in parts, each from where the last ended.
 */
function scan(bytes: Buffer, until: number, from: Scan = NOTHING_SCANNED): Scan {
  let { index, depth, digits, isInString, mayBeUnstorable } = from;
  for (; index < until; index++) {
    const byte = bytes[index];
    if (isInString) {
      if (byte === QUOTE) isInString = false;
      else if (byte === BACKSLASH) {
        index += 1;
        if (bytes[index] === LOWER_U) mayBeUnstorable = true;
      }
      continue;
    }
    if (byte !== undefined && byte >= DIGIT_0 && byte <= DIGIT_9) {
      digits += 1;
      if (digits === OVERFLOW_DIGITS) mayBeUnstorable = true;
      continue;
    }
    if (digits > 0 && (byte === LOWER_E || byte === UPPER_E)) mayBeUnstorable = true;
    digits = 0;
    if (byte === QUOTE) isInString = true;
    else if (byte === ARRAY_OPEN || byte === OBJECT_OPEN) {
      depth += 1;
      if (depth > JSON_DEPTH_LIMIT) {
        throw new ApiError('invalid_json', { message: `The body is nested deeper than ${JSON_DEPTH_LIMIT} levels.` });
      }
    } else if (byte === ARRAY_CLOSE || byte === OBJECT_CLOSE) depth -= 1;
  }
  return { index, depth, digits, isInString, mayBeUnstorable };
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.', cause });
  }
}

function* refusingSyntax<Result>(steps: Generator<void, Result>): Generator<void, Result> {
  try {
    return yield* steps;
  } catch (cause) {
    throw cause instanceof SyntaxError ? new ApiError('invalid_json', { cause }) : cause;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError('invalid_json', { cause });
  }
}
