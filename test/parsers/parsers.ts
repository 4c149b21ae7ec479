import { createCursors } from '../../src/channel/reads/cursors.ts';
import { DomainError } from '../../src/contract/domain-error.ts';
import { ApiError } from '../../src/contract/errors.ts';
import { isId } from '../../src/contract/ids.ts';
import {
  BODY_LIMIT_BYTES,
  BULK_BODY_LIMIT_BYTES,
  HEADERS_LIMIT_BYTES,
  STRING_LENGTH_LIMIT,
} from '../../src/contract/limits.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { BulkInput } from '../../src/contract/resources/customer.ts';
import { parseTimestamp } from '../../src/contract/timestamps.ts';
import { emailKey, parsePhone } from '../../src/customers/customer-draft.ts';
import { checkedEmail, checkedName } from '../../src/dealers/input-rules.ts';
import { isApiKey } from '../../src/dealers/integrations/api-keys.ts';
import { acceptedEncoding } from '../../src/http/accept-encoding.ts';
import { cookieOf } from '../../src/http/dashboard/cookie.ts';
import { isMatch } from '../../src/http/etag.ts';
import { isJsonType, LARGE_BODY_BYTES, parseJsonBody, parseJsonBodySteps } from '../../src/http/json/json-body.ts';
import { UnknownNames } from '../../src/http/json/unknown-names.ts';
import { didYouMean } from '../../src/http/public/ignored-names/did-you-mean.ts';
import { readIds } from '../../src/http/public/reads/ids-query.ts';
import { parseChoices } from '../../src/http/public/reads/list-query.ts';
import { parseTypes } from '../../src/http/public/routes/events.ts';
import { parseQueryString } from '../../src/http/query-string.ts';
import { loggedPath, plainUrl } from '../../src/http/request-url.ts';
import { validatorCompiler } from '../../src/http/validation/validation.ts';
import {
  bool,
  CellError,
  choice,
  compatibility,
  integer,
  list,
  money,
  number,
  text,
} from '../../src/inventory/csv/cells.ts';
import { CSV_BYTES_LIMIT, readCsv } from '../../src/inventory/csv/csv-file.ts';
import { columnFinder, stockColumns } from '../../src/inventory/csv/stock-columns.ts';
import { DIRECTORY_LIMIT_BYTES, readDirectory, ZIP_ENTRIES_LIMIT } from '../../src/inventory/import/zip-file.ts';
import { createSsrfGuard } from '../../src/webhooks/sending/ssrf-guard.ts';
import { filled, json, keys, zipDirectory } from './long-inputs.ts';
import { type Parser, row } from './parser.ts';
import { PICTURE_PARSERS } from './picture-parsers.ts';

const SMALL = BODY_LIMIT_BYTES;
const BULK = BULK_BODY_LIMIT_BYTES;
const HEADERS = HEADERS_LIMIT_BYTES;
/** A tenth of what is accepted: the whole would take minutes, and the budget is one for each character. */
const CSV_BYTES = CSV_BYTES_LIMIT / 10;
/** The longest line, all of it in one cell. */
const CSV_LINE = 200_000;

const ALMOST_OVERFLOWING = `${'1'.repeat(299)}a`;

const cursors = createCursors(['a secret key for tests, long enough to be one', 'an older key']);
const guard = createSsrfGuard(false);
const validateBulk = validatorCompiler({ schema: BulkInput, method: 'POST', url: '/', httpPart: 'body' });
const validateQuery = validatorCompiler({
  schema: OPERATIONS.listEvents.query,
  method: 'GET',
  url: '/',
  httpPart: 'querystring',
});

/** Everything that reads what somebody outside wrote. A new parser is one more row. */
export const PARSERS: Parser[] = [
  row<Buffer>({
    name: 'the JSON body of a bulk',
    limit: BULK,
    worst: { 'runs of digits that almost overflow': (length) => json(`["${filled(ALMOST_OVERFLOWING, length)}"]`) },
    parse: parseBulk,
  }),
  row<Buffer>({
    name: 'a JSON body',
    limit: SMALL,
    worst: {
      'runs of digits that almost overflow': (length) => json(`["${filled(ALMOST_OVERFLOWING, length)}"]`),
      'numbers that almost overflow': (length) => json(`[${filled(`${'1'.repeat(299)},`, length)}0]`),
      'one number': (length) => json('1'.repeat(length)),
      escapes: (length) => json(`["${filled('\\u0041', length)}"]`),
      'backslashes without an end': (length) => json(`["${'\\'.repeat(length)}`),
      'quotes without an end': (length) => json('"'.repeat(length)),
      'unpaired surrogates in unknown fields': (length) => json(`{"x":[${filled('"\\ud800",', length)}0]}`),
      'small arrays': (length) => json(`{"x":[${filled('[],', length)}0]}`),
      'deep arrays': (length) => json(`{"x":[${filled(`${'['.repeat(60)}${']'.repeat(60)},`, length)}0]}`),
      'keys that differ': (length) => json(`{${keys(length, (index) => `k${index}`)}"x":1e5}`),
      'keys that are numbers': (length) => json(`{${keys(length, (index) => String(index * 1_009))}"x":1e5}`),
      'one key again and again': (length) => json(`{${filled('"a":1,', length)}"x":1e5}`),
    },
    parse: parseBulk,
  }),
  row<Buffer>({
    name: 'a large JSON body, in steps',
    limit: SMALL,
    worst: {
      'one number': (length) => json('1'.repeat(length)),
      blanks: (length) => json(`{"x":0${' '.repeat(length)}}`),
      escapes: (length) => json(`["${filled('\\u0041', length)}"]`),
      'small arrays': (length) => json(`{"x":[${filled('[],', length)}0]}`),
      'deep arrays': (length) => json(`{"x":[${filled(`${'['.repeat(60)}${']'.repeat(60)},`, length)}0]}`),
      'keys that differ': (length) => json(`{${keys(length, (index) => `k${index}`)}"x":1e5}`),
      'small arrays in metadata': (length) => inMetadata(`"x":[${filled('[],', length)}0]`),
      'keys that differ in metadata': (length) => inMetadata(`${keys(length, (index) => `k${index}`)}"x":1e5`),
      'one key again and again in metadata': (length) => inMetadata(`${filled('"a":1,', length)}"x":1e5`),
    },
    parse(body) {
      const steps = parseJsonBodySteps(body, 'application/json', BulkInput as object);
      while (!steps.next().done);
    },
  }),
  // Of values that are parsed already: what JSON.parse takes has rows of its own.
  row<unknown>({
    name: 'the validation of a bulk',
    limit: SMALL,
    worst: {
      'records that are nothing': (length) => parseBulk(json(`{"customers":[${filled('{},', length)}{}]}`)),
      'long emails': (length) => ({ customers: [{ email: 'a'.repeat(length) }] }),
      'long countries': (length) => ({ customers: [{ address: { country: 'a'.repeat(length) } }] }),
      'characters of two units': (length) => ({ customers: [{ company: filled('😀', length / 2) }] }),
      'unknown fields': (length) =>
        parseBulk(json(`{"customers":[{${keys(length, (index) => `k${index}`)}"phone":1}]}`)),
    },
    parse: validateBulk,
  }),
  row<Buffer>({
    name: 'a CSV file',
    limit: CSV_BYTES,
    worst: {
      'lines of one cell': (length) => json(filled(`${'a'.repeat(1_000)}\n`, length)),
      'empty cells': (length) => json(filled(`${','.repeat(190)}\n`, length)),
      'line breaks': (length) => json(`a\n${'\n'.repeat(length)}`),
      'line breaks in a cell': (length) => json(`"${'\n'.repeat(length)}"`),
      'a quote without an end': (length) => json(`"${'a,'.repeat(length / 2)}`),
      'quotes in quotes': (length) => json(filled(`"${'""'.repeat(500)}"\n`, length)),
      'quotes in the header': (length) => json('"'.repeat(length)),
      'delimiters in the header': (length) => json(',;\t'.repeat(length / 3)),
      'characters of three bytes': (length) => json(filled(`${'–'.repeat(300)}\n`, length)),
    },
    parse: (bytes) => readCsv(bytes, (cells) => cells),
  }),
  row<Buffer>({
    name: 'the directory of a zip',
    limit: DIRECTORY_LIMIT_BYTES,
    worst: {
      'entries without names': (length) => zipDirectory(length, 0),
      'entries with names': (length) => zipDirectory(length, 200),
    },
    parse: (directory) => readDirectory(directory, ZIP_ENTRIES_LIMIT),
  }),
  ...PICTURE_PARSERS,
  row<string>({
    name: 'a cell of a CSV file',
    limit: CSV_LINE,
    worst: {
      'digits in groups': (length) => filled("1'", length, '1'),
      'points and commas': (length) => `1${filled('.,', length)}`,
      'groups of three': (length) => `1${filled(',000', length)}`,
      blanks: (length) => `1${' '.repeat(length)}x`,
      letters: (length) => 'a'.repeat(length),
      'currency signs': (length) => '€'.repeat(length),
      bars: (length) => filled('a|', length),
      apostrophes: (length) => "'".repeat(length),
    },
    parse(cell) {
      for (const format of [number, integer, money('CHF'), bool, choice('condition'), list, compatibility, text]) {
        attemptCell(() => format.read(cell));
      }
    },
  }),
  row<string>({
    name: 'Content-Type',
    limit: HEADERS,
    worst: {
      blanks: (length) => `application/json;${' '.repeat(length)}x`,
      semicolons: (length) => `application/json${';'.repeat(length)}`,
      charsets: (length) => `application/json;${filled('charset=utf-8;', length)}`,
    },
    parse: isJsonType,
  }),
  row<Buffer>({
    name: 'the unknown names of a small body',
    limit: LARGE_BODY_BYTES,
    worst: {
      'names that differ': (length) => json(`{${keys(length, (index) => `k${index}`)}"x":1}`),
      'one name again and again': (length) => json(`{"customers":[${filled('{"x":1},', length)}{}]}`),
      'a long name': (length) => json(`{"${'é'.repeat(length / 2)}":1}`),
      'known names': (length) => json(`{"customers":[${filled('{"email":"a@b.ch"},', length)}{}]}`),
    },
    parse: (body) => parseJsonBody(body, 'application/json', BulkInput as object, new UnknownNames()),
  }),
  row<string>({
    name: 'ids',
    limit: HEADERS,
    worst: {
      commas: (length) => ','.repeat(length),
      'ids that differ': (length) => Array.from({ length: length / 8 }, (_, index) => `i${index}`).join(),
      blanks: (length) => `a${' '.repeat(length)}b`,
    },
    parse: readIds,
  }),
  row<string>({
    name: 'did you mean',
    limit: HEADERS,
    worst: { 'a long name': (length) => 'a_'.repeat(length / 2) },
    parse: (name) => didYouMean(name, ['channel_order_id', 'updated_after']),
  }),
  row<string>({
    name: 'Accept-Encoding',
    limit: HEADERS,
    worst: {
      blanks: (length) => `a${' '.repeat(length)}b`,
      'blanks and semicolons': (length) => filled(`a${' '.repeat(50)};`, length),
      commas: (length) => ','.repeat(length),
      'weights of zero': (length) => `br;q=0.${'0'.repeat(length)}1`,
    },
    parse: acceptedEncoding,
  }),
  row<string>({
    name: 'If-None-Match',
    limit: HEADERS,
    worst: {
      blanks: (length) => `W/${' '.repeat(length)}"x"`,
      tags: (length) => filled('W/"x",', length),
      'weak marks': (length) => filled('W/', length),
    },
    parse: (header) => isMatch(header, 'W/"0123456789012345678901234567"'),
  }),
  row<string>({
    name: 'a cookie',
    limit: HEADERS,
    worst: {
      semicolons: (length) => ';'.repeat(length),
      'names in a name': (length) => filled('xs=', length),
      'blanks before a name': (length) => filled(`x${' '.repeat(100)}s=`, length),
    },
    parse: (header) => cookieOf(header, 's'),
  }),
  row<string>({
    name: 'the key',
    limit: HEADERS,
    worst: { letters: (length) => `svc_${'a'.repeat(length)}` },
    parse: isApiKey,
  }),
  row<string>({
    name: 'the URL of a request',
    limit: HEADERS,
    worst: {
      'question marks': (length) => `/%${'?'.repeat(length)}`,
      'percent signs': (length) => `/${'%'.repeat(length)}`,
      'escapes that do not decode': (length) => `/${filled('%C3%A9', length)}%E9`,
      'an absolute form': (length) => `http://${'a'.repeat(length)}`,
      slashes: (length) => '/'.repeat(length),
    },
    parse: (url) => loggedPath(plainUrl(url)),
  }),
  row<string>({
    name: 'the query of a request',
    limit: HEADERS,
    worst: {
      ampersands: (length) => '&'.repeat(length),
      'many names': (length) => Array.from({ length: Math.ceil(length / 6) }, (_, index) => `n${index}`).join('&'),
      'one name again and again': (length) => filled('a&', length),
      'escapes that decode': (length) => `a=${filled('%C3%A9', length)}`,
      'escapes that do not decode': (length) => `a=${filled('%C3%A9', length)}%E9`,
      'percent signs': (length) => `a=${'%'.repeat(length)}`,
      'names that do not decode': (length) => filled('%&', length),
      'values that are no UTF-8': (length) => filled('a=%FF&', length),
      'plus signs': (length) => `a=${'+'.repeat(length)}`,
    },
    parse: parseQueryString,
  }),
  row<string>({
    name: 'an id',
    limit: HEADERS,
    worst: { letters: (length) => `lst_0${'a'.repeat(length)}` },
    parse: (text) => isId('listing', text),
  }),
  row<string>({
    name: 'a cursor',
    limit: HEADERS,
    worst: {
      letters: (length) => 'A'.repeat(length),
      'what base64 leaves out': (length) => '!'.repeat(length),
    },
    parse: (text) => cursors.decode('events', 'int_1', text),
  }),
  row<string>({
    name: 'updated_after',
    limit: HEADERS,
    worst: {
      digits: (length) => `2026-05-08T09:00:00.${'1'.repeat(length)}`,
      'digits and no end': (length) => `2026-05-08T09:00:00.${'1'.repeat(length)}x`,
      blanks: (length) => `2026-05-08T09:00:00${' '.repeat(length)}`,
    },
    parse: (text) => parseTimestamp(text, 'updated_after'),
  }),
  row<string>({
    name: 'status',
    limit: HEADERS,
    worst: {
      repeated: (length) => filled('active,', length, 'active'),
      unknown: (length) => `${filled('active,', length)}x`,
      blanks: (length) => filled(`active${' '.repeat(50)},`, length, 'active'),
    },
    parse: (text) => parseChoices('status', ['active', 'reserved', 'sold', 'unpublished'], text),
  }),
  row<string>({
    name: 'type',
    limit: HEADERS,
    worst: {
      repeated: (length) => filled('part.*,', length, 'part.*'),
      'unknown at the end': (length) => `${filled('order.cancelled,', length)}x`,
      'many unknown': (length) => filled('x,', length),
    },
    parse: parseTypes,
  }),
  row<string>({
    name: 'limit',
    limit: HEADERS,
    worst: { digits: (length) => '9'.repeat(length), 'digits and no end': (length) => `${'9'.repeat(length)}x` },
    parse: (limit) => validateQuery({ limit }),
  }),
  row<string>({
    name: 'a phone number',
    limit: STRING_LENGTH_LIMIT,
    worst: {
      digits: (length) => `+${'1'.repeat(length)}`,
      punctuation: (length) => `+41${filled('(-', length)}`,
      extensions: (length) => `+41 22 ${filled('ext. 1 ', length)}`,
      blanks: (length) => `+41${' '.repeat(length)}1`,
    },
    parse: (text) => parsePhone(text, 'CH'),
  }),
  row<string>({
    name: 'the key of an email',
    limit: STRING_LENGTH_LIMIT,
    worst: {
      'dotless i': (length) => 'ı'.repeat(length),
      'combining marks': (length) => `a${'\u0301\u0327'.repeat(length / 2)}`,
      'marks in the wrong order': (length) => `a${'\u0301'.repeat(length / 2)}${'\u0323'.repeat(length / 2)}`,
      'sharp s': (length) => 'ß'.repeat(length),
    },
    parse: emailKey,
  }),
  row<string>({
    name: 'a heading of an imported file',
    limit: CSV_LINE / 10,
    worst: {
      'marks in the wrong order': (length) => `a${'\u0301'.repeat(length / 2)}${'\u0323'.repeat(length / 2)}`,
      'marks of another script': (length) => `א${'\u05c2\u05b0'.repeat(length / 2)}`,
      letters: (length) => 'ẛ̣'.repeat(length / 2),
    },
    parse: columnFinder(stockColumns('listing', 'CHF')),
  }),
  row<string>({
    name: 'the email of a user',
    limit: 254,
    worst: {
      letters: (length) => 'a'.repeat(length),
      'labels without an end': (length) => `a@${filled('a.', length)}1`,
      dots: (length) => `a${'.'.repeat(length)}`,
    },
    parse: checkedEmail,
  }),
  row<string>({
    name: 'a name',
    limit: SMALL,
    worst: { blanks: (length) => `a${' '.repeat(length)}b`, letters: (length) => 'a'.repeat(length) },
    parse: checkedName,
  }),
  row<string>({
    name: 'the URL of a webhook endpoint',
    limit: 2_000,
    worst: {
      dots: (length) => `https://a${'.'.repeat(length)}b`,
      labels: (length) => `https://${filled('a.', length)}com`,
      brackets: (length) => `https://shop.example/${'['.repeat(length)}`,
    },
    parse: (text) => guard.problemOf(text),
  }),
];

function parseBulk(body: Buffer): unknown {
  return parseJsonBody(body, 'application/json', BulkInput as object);
}

function inMetadata(members: string): Buffer {
  return json(`{"customers":[{"email":"a@b.ch","metadata":{${members}}}]}`);
}

/** A refusal is an answer like any other; anything else is a fault of the row. */
export function attempt(parser: Parser, input: unknown): void {
  try {
    parser.parse(input);
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof DomainError)) throw error;
  }
}

function attemptCell(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof CellError)) throw error;
  }
}
