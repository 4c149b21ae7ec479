import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { runAtOnce } from '../../concurrency/time-slices.ts';
import { CompactJson } from '../../contract/compact-json.ts';
import { ApiError } from '../../contract/errors.ts';
import { BULK_BODY_LIMIT_BYTES, METADATA_LIMIT_BYTES } from '../../contract/limits.ts';
import { BulkInput } from '../../contract/resources/customer.ts';
import { OrderInput } from '../../contract/resources/order.ts';
import { parseJsonBody, parseJsonBodySteps, readJsonBody } from './json-body.ts';
import type { Shape } from './shape.ts';

const JSON_TYPE = 'application/json';
/** Far below the 2 s that JSON.parse needs: now and then garbage is collected in a step. */
const STEP_CPU_LIMIT_MS = 100;
/** By the clock, in the middle of all steps: the system counts CPU time in units of up to four milliseconds. */
const STEP_USUAL_MS = 3;
const TRIES = 3;

function parseLarge(text: string, shape: Shape = {}): unknown {
  return runAtOnce(parseJsonBodySteps(Buffer.from(text), JSON_TYPE, shape));
}

/** The value, or the refusal in a form that can be compared. */
function outcome(run: () => unknown): unknown {
  try {
    return { value: run() };
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return { code: error.code, message: error.message, param: error.param };
  }
}

function assertSame(text: string, shape: Shape = {}): void {
  const large = outcome(() => JSON.stringify(parseLarge(text, shape)));
  assert.deepEqual(
    large,
    outcome(() => JSON.stringify(parseJsonBody(Buffer.from(text), JSON_TYPE, shape))),
    text,
  );
}

const filled = (piece: string, length = BULK_BODY_LIMIT_BYTES - 1_000) =>
  piece.repeat(Math.floor(length / piece.length));
const inMetadata = (members: string) => `{"customers":[{"email":"a@b.ch","metadata":{${members}}}]}`;

describe('a large JSON body', () => {
  it('of any shape is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => assertSame(text)),
      { numRuns: 2_000 },
    );
  });

  it('that was altered is refused exactly when JSON.parse refuses it', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '"\\u0041"',
      '"\\x"',
      '0',
      '01',
      '-',
      '1.',
      '1e5',
      '-0',
      'null',
      'tru',
      ' ',
      '\n',
      '\u00a0',
    ];
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((list) => list.join(''));
    fc.assert(
      fc.property(texts, (text) => text === '' || assertSame(text) === undefined),
      { numRuns: 5_000 },
    );
    const cut = fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...pieces)).map(([text, at, piece]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + piece + text.slice(index + 1);
    });
    fc.assert(
      fc.property(cut, (text) => text === '' || assertSame(text) === undefined),
      { numRuns: 2_000 },
    );
  });

  it('with many blanks in a row means the same as without', () => {
    const blanks = ' \n\r\t'.repeat(3_000);
    for (const text of [
      `${blanks}{${blanks}"a"${blanks}:${blanks}[1${blanks},"${' '.repeat(9_000)}é"]}${blanks}`,
      `{"a":1${blanks}1}`,
      `{"a":tr${blanks}ue}`,
      `{"a":"b${' '.repeat(9_000)}\\"${blanks}}`,
      `"é"${blanks}`,
      `${blanks}`,
      `{"a":1}${blanks}x`,
      `{"a":1${blanks}e400}`,
    ]) {
      assertSame(text);
    }
  });

  it('may begin with a byte order mark, and is refused if it is not UTF-8', () => {
    assertSame('\ufeff{"a":1}');
    const bytes = Buffer.from('{"a":"é"}').map((byte) => (byte === 0xc3 ? 0xff : byte));
    const steps = () => runAtOnce(parseJsonBodySteps(Buffer.from(bytes), JSON_TYPE));
    assert.deepEqual(
      outcome(steps),
      outcome(() => parseJsonBody(Buffer.from(bytes), JSON_TYPE)),
    );
  });

  it('is no longer parsed when its client has gone', async () => {
    const gone = new AbortController();
    const body = Buffer.from(`{"x":[${filled('1,')}1]}`);
    const parsed = readJsonBody(body, JSON_TYPE, { key: 'a', shape: {}, signal: gone.signal });
    gone.abort();
    await assert.rejects(parsed, (error) => error instanceof ApiError && error.code === 'request_timeout');
  });

  it('keeps the known fields, and of two of one name the last', () => {
    const text =
      '{"x":[{}],"customers":[{"email":"a","y":1,"email":"b","metadata":{"z":1,"1":2,"z":[3]},"__proto__":{"a":1}}],"customers2":0}';
    const { customers } = parseLarge(text, BulkInput as Shape) as { customers: Record<string, unknown>[] };
    const [customer] = customers;
    assert.deepEqual(Object.keys(customer ?? {}), ['email', 'metadata']);
    assert.equal(customer?.email, 'b');
    assert.ok(customer?.metadata instanceof CompactJson);
    assert.equal(JSON.stringify(customer.metadata), '{"1":2,"z":[3]}');
  });

  it('names the same field when something cannot be stored', () => {
    for (const text of [
      '{"channel_order_id":"\\u0000"}',
      '{"surprise":"\\u0000","sur\\u0000prise":1,"channel_order_id":"a"}',
      '{"lines":[{"title":"fine"},{"surprise":"\\u0000","title":"\\ud800"}]}',
      '{"metadata":{"deep":[{"er":"\\u0000"}],"b":"\\u0000"}}',
      '{"metadata":{"b":"\\u0000","1":["\\u0000"]}}',
      '{"metadata":{"bad\\u0000name":1}}',
      '{"metadata":{"n":1e400}}',
      '{"shipping_amount":1e400}',
    ]) {
      const small = outcome(() => parseJsonBody(Buffer.from(text), JSON_TYPE, OrderInput as Shape));
      const large = outcome(() => parseLarge(text, OrderInput as Shape));
      if ('code' in (small as object)) assert.deepEqual(large, small, text);
      else assert.ok('value' in (large as object), text);
    }
    assert.ok(
      'value' in (outcome(() => parseLarge('{"metadata":{"a":"\\u0000","a":1}}', OrderInput as Shape)) as object),
    );
  });

  it('may have metadata that are long only as they were written', () => {
    const metadataOf = (text: string) => {
      const { customers } = parseLarge(text, BulkInput as Shape) as { customers: { metadata: CompactJson }[] };
      return customers[0]?.metadata.text;
    };
    assert.equal(metadataOf(inMetadata(`${filled('"a":1,', 1_000_000)}"b":2`)), '{"a":1,"b":2}');
    assert.equal(metadataOf(inMetadata(`"a":[${filled('[],', 1_000_000)}0],"a":2`)), '{"a":2}');
    assert.equal(metadataOf(inMetadata(`"a":${' '.repeat(1_000_000)}2`)), '{"a":2}');
    const longest = `{"a":"${'x'.repeat(METADATA_LIMIT_BYTES - '{"a":""}'.length)}"}`;
    assert.equal(metadataOf(inMetadata(longest.slice(1, -1))), longest);
    assert.equal(metadataOf(inMetadata(`"a":[${filled('0,', METADATA_LIMIT_BYTES)}0]`)), null);
  });

  for (const [what, make] of Object.entries({
    'keys that differ': () => `{${Array.from({ length: 800_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
    'keys that differ, in metadata': () =>
      inMetadata(Array.from({ length: 800_000 }, (_, index) => `"k${index}":1`).join(',')),
    'deep arrays': () => `{"x":[${filled(`${'['.repeat(60)}${']'.repeat(60)},`)}0]}`,
    'small arrays in metadata': () => inMetadata(`"x":[${filled('[],')}0]`),
    'one long string of escapes': () => `{"customers":[{"email":"${filled('\\u0041')}"}]}`,
    blanks: () => `{"x":${filled(' ')}1}`,
    'blanks at the end': () => `{"x":1}${filled('\n')}`,
    'blanks between values': () => `{"x":[${filled(`${' '.repeat(5_000)}1,`)}1]}`,
  })) {
    it(`at its size limit never takes long in one step: ${what}`, () => {
      const body = Buffer.from(make());
      // A step that takes long does so each time; where the machine was busy with something else, another try does not.
      let { longestCpuMs, usualMs, count } = timesOfSteps(body);
      for (let tries = 1; tries < TRIES && (longestCpuMs >= STEP_CPU_LIMIT_MS || usualMs >= STEP_USUAL_MS); tries++) {
        ({ longestCpuMs, usualMs, count } = timesOfSteps(body));
      }
      assert.ok(longestCpuMs < STEP_CPU_LIMIT_MS, `${longestCpuMs} ms in the longest of ${count} steps`);
      assert.ok(usualMs < STEP_USUAL_MS, `${usualMs} ms in the middle one of ${count} steps`);
    });
  }
});

function timesOfSteps(body: Buffer): { longestCpuMs: number; usualMs: number; count: number } {
  const steps = parseJsonBodySteps(body, JSON_TYPE, BulkInput as Shape);
  const timesMs: number[] = [];
  let longestCpuMs = 0;
  for (let isDone = false; !isDone; ) {
    const before = process.threadCpuUsage();
    const startedAt = performance.now();
    isDone = steps.next().done === true;
    timesMs.push(performance.now() - startedAt);
    const { user, system } = process.threadCpuUsage(before);
    longestCpuMs = Math.max(longestCpuMs, (user + system) / 1_000);
  }
  timesMs.sort((a, b) => a - b);
  return { longestCpuMs, usualMs: timesMs[Math.floor(timesMs.length / 2)] ?? 0, count: timesMs.length };
}
