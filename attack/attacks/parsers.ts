import { gzipSync } from 'node:zlib';
import { BODY_LIMIT_BYTES, BULK_BODY_LIMIT_BYTES, BULK_RECORDS_LIMIT } from '../../src/contract/limits.ts';
import { type Attack, idempotent, type Scene, scaled } from './attack.ts';

const PING = '/v1/test/webhook_ping';
const HEADER_BYTES = 15_500;
const SPARE_BYTES = 1_000;

/** Runs of digits that a pattern such as \d{300} reads again and again. */
const DIGITS = `${'1'.repeat(299)}a`;

function filled(limitBytes: number, unit: string): string {
  return unit.repeat(Math.floor((limitBytes - SPARE_BYTES) / unit.length));
}

function posts(scene: Scene, count: number, atOnce: number, path: string, body: string | Buffer, headers = {}) {
  return scene.client.flood({ count: scaled(scene, count), atOnce }, () => ({
    method: 'POST',
    path,
    headers: { ...idempotent(), ...headers },
    body,
  }));
}

/** The worst input for each parser, at its size limit. */
export const PARSER_ATTACKS: Attack[] = [
  {
    name: 'digits in a body of 1 MiB',
    run: (scene) => posts(scene, 60, 4, PING, `{"a":"${filled(BODY_LIMIT_BYTES, DIGITS)}"}`),
  },
  {
    name: 'digits in a bulk of 10 MiB',
    run: (scene) => posts(scene, 8, 2, '/v1/customers/bulk', `{"a":"${filled(BULK_BODY_LIMIT_BYTES, DIGITS)}"}`),
  },
  {
    name: 'JSON a million levels deep',
    run: (scene) => posts(scene, 60, 4, PING, filled(BODY_LIMIT_BYTES, '[')),
  },
  {
    name: 'JSON of many small values',
    run: (scene) => posts(scene, 60, 4, PING, `{"a":[${filled(BODY_LIMIT_BYTES, '1e1,')}0]}`),
  },
  {
    name: 'JSON of many keys',
    run: (scene) => {
      const members = Array.from({ length: 80_000 }, (_, index) => `"k${index}":0`);
      return posts(scene, 40, 4, PING, `{${members.join(',')}}`);
    },
  },
  {
    name: 'compressed and odd bodies',
    async run(scene) {
      const bomb = gzipSync(Buffer.alloc(50_000_000));
      await posts(scene, 40, 4, PING, bomb, { 'content-encoding': 'gzip' });
      await posts(scene, 40, 4, PING, '\u0000'.repeat(100_000), { 'content-type': 'text/plain' });
      await posts(scene, 40, 4, PING, filled(BODY_LIMIT_BYTES, '\ud800'), {});
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
      scene.client.flood({ count: scaled(scene, 300), atOnce: 8 }, () => ({
        path: '/v1/me',
        headers: Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`x-${index}`, '1'])),
      })),
  },
  {
    name: 'long cursors and queries',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 400), atOnce: 8 }, (index) => {
        const long = ['after', 'updated_after', 'status', 'limit'][index % 4];
        const value = ['A'.repeat(15_000), '1'.repeat(15_000), 'active,'.repeat(2_100), '0'.repeat(15_000)][index % 4];
        return { path: `/v1/listings?${long}=${value}` };
      }),
  },
  {
    name: 'phones and emails in bulks',
    run(scene) {
      const customers = Array.from({ length: BULK_RECORDS_LIMIT }, (_, index) => ({
        external_id: `p-${index}`,
        phone: index % 2 === 0 ? `+${'('.repeat(498)}` : `+41${' 2'.repeat(240)}`,
        email: index % 2 === 0 ? `${'a.'.repeat(120)}@${'a-'.repeat(120)}` : `a@${'b.'.repeat(120)}c`,
      }));
      return posts(scene, 40, 4, '/v1/customers/bulk', JSON.stringify({ customers }));
    },
  },
];
