import { gzipSync } from 'node:zlib';
import { BODY_LIMIT_BYTES, BULK_BODY_LIMIT_BYTES, BULK_RECORDS_LIMIT } from '../../src/contract/limits.ts';
import { type Attack, idempotent, madeOnce, type Scene, scaled } from './attack.ts';

const PING = '/v1/test/webhook_ping';
const BULK = '/v1/customers/bulk';
const HEADER_BYTES = 15_500;
const QUERY_BYTES = 15_000;
const SPARE_BYTES = 1_000;

/** Runs of digits that a pattern such as \d{300} reads again and again. */
const DIGITS = `${'1'.repeat(299)}a`;

function filled(limitBytes: number, unit: string): string {
  return unit.repeat(Math.floor((limitBytes - SPARE_BYTES) / unit.length));
}

type Body = string | Buffer;

function posts(scene: Scene, count: number, atOnce: number, path: string, body: Body, headers = {}) {
  return scene.client.flood({ count: scaled(scene, count), atOnce }, () => ({
    method: 'POST',
    path,
    headers: { ...idempotent(), ...headers },
    body,
  }));
}

/** An attack by one body, sent again and again. */
function bodyAttack(
  name: string,
  { count, atOnce, path = PING }: { count: number; atOnce: number; path?: string },
  make: () => Body,
): Attack {
  const body = madeOnce(make);
  return {
    name,
    prepare: () => void body(),
    run: (scene) => posts(scene, count, atOnce, path, body()),
  };
}

const bomb = madeOnce(() => gzipSync(Buffer.alloc(50_000_000)));
const surrogates = madeOnce(() => filled(BODY_LIMIT_BYTES, '\ud800'));

/** The worst input for each parser, at its size limit. */
export const PARSER_ATTACKS: Attack[] = [
  bodyAttack(
    'digits in a body of 1 MiB',
    { count: 60, atOnce: 4 },
    () => `{"a":"${filled(BODY_LIMIT_BYTES, DIGITS)}"}`,
  ),
  bodyAttack(
    'digits in a bulk of 10 MiB',
    { count: 8, atOnce: 2, path: BULK },
    () => `{"a":"${filled(BULK_BODY_LIMIT_BYTES, DIGITS)}"}`,
  ),
  bodyAttack('JSON a million levels deep', { count: 60, atOnce: 4 }, () => filled(BODY_LIMIT_BYTES, '[')),
  bodyAttack(
    'JSON of many small values',
    { count: 60, atOnce: 4 },
    () => `{"a":[${filled(BODY_LIMIT_BYTES, '1e1,')}0]}`,
  ),
  bodyAttack('JSON of many keys', { count: 40, atOnce: 4 }, () => {
    const members = Array.from({ length: 80_000 }, (_, index) => `"k${index}":0`);
    return `{${members.join(',')}}`;
  }),
  bodyAttack(
    'JSON of blanks in a bulk',
    { count: 8, atOnce: 3, path: BULK },
    () => `{"a":${filled(BULK_BODY_LIMIT_BYTES, ' ')}1}`,
  ),
  bodyAttack('JSON of deep arrays in a bulk', { count: 8, atOnce: 3, path: BULK }, () => {
    const deep = `${'['.repeat(50)}${']'.repeat(50)},`;
    return `{"customers":[{"email":"a@b.ch","metadata":{"a":[${filled(BULK_BODY_LIMIT_BYTES, deep)}0]}}]}`;
  }),
  bodyAttack('accents in emails and names of a bulk', { count: 12, atOnce: 2, path: BULK }, () => {
    // Which the normal form has in the other order.
    const accents = (length: number) => `a${'\u0301'.repeat(length / 2)}${'\u0323'.repeat(length / 2)}`;
    const customers = Array.from({ length: BULK_RECORDS_LIMIT }, (_, index) => ({
      email: `${accents(200)}${index}@example.ch`,
      first_name: accents(498),
      last_name: accents(498),
    }));
    return JSON.stringify({ customers });
  }),
  {
    name: 'compressed and odd bodies',
    prepare() {
      bomb();
      surrogates();
    },
    async run(scene) {
      await posts(scene, 40, 4, PING, bomb(), { 'content-encoding': 'gzip' });
      await posts(scene, 40, 4, PING, '\u0000'.repeat(100_000), { 'content-type': 'text/plain' });
      await posts(scene, 40, 4, PING, surrogates(), {});
    },
  },
  {
    name: 'blanks in headers',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 300), atOnce: 8 }, (index) => {
        const blanks = `a${' '.repeat(HEADER_BYTES)}b`;
        const name = ['accept-encoding', 'if-none-match', 'accept', 'x-request-id'][index % 4] as string;
        return { path: '/v1/listings', headers: { [name]: blanks } };
      }),
  },
  {
    name: 'lists in headers',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 300), atOnce: 8 }, (index) => {
        const list = index % 2 === 0 ? 'W/"a",'.repeat(HEADER_BYTES / 6) : 'gzip;q=0,'.repeat(HEADER_BYTES / 9);
        return { path: '/v1/listings', headers: { [index % 2 === 0 ? 'if-none-match' : 'accept-encoding']: list } };
      }),
  },
  {
    name: 'many headers',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 300), atOnce: 8 }, (number) => ({
        path: '/v1/me',
        // As many as are accepted, and as many as fit into the bytes that are read before they are refused.
        headers: Object.fromEntries(
          Array.from({ length: [190, 900][number % 2] ?? 0 }, (_, index) => [`x-${index}`, '1']),
        ),
      })),
  },
  {
    name: 'long cursors and queries',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 400), atOnce: 8 }, (index) => {
        const long = ['after', 'updated_after', 'status', 'limit'][index % 4];
        const value = [
          'A'.repeat(QUERY_BYTES),
          '1'.repeat(QUERY_BYTES),
          'active,'.repeat(2_100),
          '0'.repeat(QUERY_BYTES),
        ][index % 4];
        return { path: `/v1/listings?${long}=${value}` };
      }),
  },
  {
    name: 'queries that do not decode (no key)',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 600), atOnce: 8 }, (index) => ({
        path: `/v1/health?${index % 2 === 0 ? '%&'.repeat(QUERY_BYTES / 2) : 'a=%FF&'.repeat(QUERY_BYTES / 6)}`,
        isAnonymous: true,
      })),
  },
  {
    // The log of requests says of each which known name was probably meant.
    name: 'names that nobody knows',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 290), atOnce: 20 }, (number) => {
        const fields = Array.from({ length: 20 }, (_, index) => [`${'n'.repeat(48)}${index}`, 1]);
        const names = Array.from({ length: QUERY_BYTES / 6 }, (_, index) => `n${index}`);
        return number % 2 === 0
          ? { path: `/v1/listings?${names.join('&')}` }
          : {
              method: 'POST',
              path: '/v1/customers',
              headers: idempotent(),
              body: JSON.stringify({ external_id: `unknown-${number % 50}`, ...Object.fromEntries(fields) }),
            };
      }),
  },
  bodyAttack('phones and emails in bulks', { count: 40, atOnce: 4, path: BULK }, () => {
    const customers = Array.from({ length: BULK_RECORDS_LIMIT }, (_, index) => ({
      external_id: `p-${index}`,
      // The last one alone is refused, after all others have been read.
      phone: index === BULK_RECORDS_LIMIT - 1 ? `+${'('.repeat(498)}` : `+41${'-'.repeat(230)}446681800`,
      email: index % 2 === 0 ? `${'a.'.repeat(120)}@${'a-'.repeat(120)}` : `a@${'b.'.repeat(120)}c`,
    }));
    return JSON.stringify({ customers });
  }),
];
