import { isUtf8 } from 'node:buffer';
import { SemaphoreError, type SemaphoreKey } from '../../concurrency/limits/keyed-semaphore.ts';
import { eventLoopSlices, type Steps } from '../../concurrency/time-slices.ts';
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
const SPACE = 0x20;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const TAB = 0x09;

/** A larger body is parsed in slices: 128 KiB of the worst JSON take JSON.parse about 25 ms. */
export const LARGE_BODY_BYTES = 131_072;
/** About 0.3 ms. */
const SCAN_STEP_BYTES = 65_536;
/** In a longer string, its end is looked for by a native search, which takes a fraction of the time. */
const PLAIN_BYTES = 512;
/** Of more blanks in a row the rest is left out, since whatever passes blanks passes them in one step. */
const BLANKS_KEPT = 4_096;

export type ReadOptions = {
  /** Whose body it is: large bodies of different keys are parsed round-robin. */
  key: SemaphoreKey;
  shape: Shape;
  /** Collects the names that the shape does not know. */
  unknown?: UnknownNames;
  /** Aborted when the client has gone, for whom nothing more is parsed. */
  signal: AbortSignal;
};

/** Parses a body at once, or a large one in slices. */
export async function readJsonBody(
  bytes: Buffer,
  contentType: string | undefined,
  { key, shape, unknown, signal }: ReadOptions,
): Promise<unknown> {
  if (bytes.length <= LARGE_BODY_BYTES) return parseJsonBody(bytes, contentType, shape, unknown);
  try {
    const value = await eventLoopSlices.run(key, parseJsonBodySteps(bytes, contentType, shape, unknown), { signal });
    if (typeof value === 'object' && value !== null) largeBodies.set(value, key);
    return value;
  } catch (error) {
    // Nobody reads the answer, but the log does.
    throw error instanceof SemaphoreError ? new ApiError('request_timeout', { cause: error }) : error;
  }
}

const largeBodies = new WeakMap<object, SemaphoreKey>();

/** Whose body it is, if it is a large one: whatever walks through it should do so in slices, too. */
export function keyOfLargeBody(body: unknown): SemaphoreKey | undefined {
  return typeof body === 'object' && body !== null ? largeBodies.get(body) : undefined;
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
): Steps<unknown> {
  assertJsonType(contentType);
  let scanned: Scan | undefined;
  for (let until = 0; until < bytes.length; ) {
    until = Math.min(bytes.length, until + SCAN_STEP_BYTES);
    scanned = scan(bytes, until, scanned);
    yield;
  }
  const text = yield* decodeSteps(bytes, scanned?.cuts ?? []);
  yield;
  const value = yield* refusingSyntax(readKnownFields(text, shape, unknown));
  yield;
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
type Scan = {
  index: number;
  depth: number;
  digits: number;
  /** Blanks in a row. */
  blanks: number;
  isInString: boolean;
  mayBeUnstorable: boolean;
  /** Where each run of more blanks than are kept goes on, and where it ends. */
  cuts: Cut[];
};
type Cut = { from: number; to: number };

const NOTHING_SCANNED = { index: 0, depth: 0, digits: 0, blanks: 0, isInString: false, mayBeUnstorable: false };

/**
 * One pass over the bytes, each looked at once: a pattern such as \d{300} would look at a digit 300 times. Counts the
 * brackets outside strings, because what walks the parsed value may have trouble with depth, and says whether the text
 * may hold what can't be stored: in valid UTF-8 and valid JSON only an escape can spell such a character, and only an
 * exponent or very many digits a number without end. A large body is scanned in parts, each from where the last ended.
 */
function scan(bytes: Buffer, until: number, from: Scan = { ...NOTHING_SCANNED, cuts: [] }): Scan {
  let { index, depth, digits, blanks, isInString, mayBeUnstorable } = from;
  const { cuts } = from;
  /** Bytes of a string since its beginning or its last escape. */
  let plain = 0;
  /** The quote that ends the string, where it was looked for. */
  let quoteAt = -1;
  for (; index < until; index++) {
    const byte = bytes[index];
    if (!isInString && (byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB)) {
      blanks += 1;
      digits = 0;
      continue;
    }
    if (blanks > BLANKS_KEPT) cuts.push({ from: index - blanks + BLANKS_KEPT, to: index });
    blanks = 0;
    if (isInString) {
      if (byte === QUOTE) isInString = false;
      else if (byte === BACKSLASH) {
        index += 1;
        plain = 0;
        if (bytes[index] === LOWER_U) mayBeUnstorable = true;
      } else if (++plain > PLAIN_BYTES) {
        if (quoteAt < index) quoteAt = indexWithin(bytes, QUOTE, index, until);
        index = indexWithin(bytes, BACKSLASH, index, quoteAt) - 1;
        plain = 0;
      }
      continue;
    }
    plain = 0;
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
  if (index >= bytes.length && blanks > BLANKS_KEPT) cuts.push({ from: index - blanks + BLANKS_KEPT, to: index });
  return { index, depth, digits, blanks, isInString, mayBeUnstorable, cuts };
}

/** Where a byte is next, or the end of the range. */
function indexWithin(bytes: Buffer, byte: number, from: number, until: number): number {
  const found = bytes.subarray(from, until).indexOf(byte);
  return found === -1 ? until : from + found;
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw notUtf8({ cause });
  }
}

const BYTE_ORDER_MARK = '\ufeff';

/** The text without the cuts. The native functions take 10 MiB in a few milliseconds; a TextDecoder that refuses takes 20. */
function* decodeSteps(bytes: Buffer, cuts: Cut[]): Steps<string> {
  if (!isUtf8(bytes)) throw notUtf8();
  yield;
  const kept = cuts.length === 0 ? bytes : Buffer.concat(withoutCuts(bytes, cuts));
  yield;
  const text = kept.toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

function withoutCuts(bytes: Buffer, cuts: Cut[]): Buffer[] {
  const starts = [0, ...cuts.map(({ to }) => to)];
  return starts.map((start, index) => bytes.subarray(start, cuts[index]?.from ?? bytes.length));
}

function notUtf8(options: ErrorOptions = {}): ApiError {
  return new ApiError('invalid_json', { message: 'The body is not valid UTF-8.', ...options });
}

function* refusingSyntax<Result>(steps: Steps<Result>): Steps<Result> {
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
