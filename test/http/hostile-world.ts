import assert from 'node:assert/strict';
import { setRateLimit } from '../../src/dealers/integrations/integrations.ts';
import type { AppOptions } from '../../src/http/app-options.ts';
import { TESTER } from '../harness/actor.ts';
import { type RawResponse, type RawSocket, rawSocket, sendRaw } from '../harness/http/raw-socket.ts';
import { type Dealer, PUBLIC_URL, startWorld, type World } from '../harness/world.ts';

/** What every response carries, whoever wrote it. */
const SECURITY_HEADERS = [
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
];

export function assertDecent(response: RawResponse): void {
  for (const name of SECURITY_HEADERS) assert.ok(response.headers[name], `${name} is missing`);
  for (const name of ['server', 'x-powered-by', 'via']) assert.equal(response.headers[name], undefined);
  assert.match(response.headers['x-request-id'] ?? '', /^req_[0-9a-f]{32}$/);
  assert.ok(response.headers.date);
  assert.doesNotMatch(response.text, /node_modules|\.ts:\d|\n\s+at |fastify|HPE_|ERR_/i);
}

export function assertEnvelope(response: RawResponse, status: number, code: string): void {
  assert.equal(response.body?.error?.code, code, response.text);
  assert.equal(response.status, status);
  assertDecent(response);
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
  const { error } = response.body;
  assert.equal(error.request_id, response.headers['x-request-id']);
  assert.equal(error.doc_url, `${PUBLIC_URL}/docs/api/errors#${code}`);
  assert.equal(typeof error.type, 'string');
  assert.equal(typeof error.message, 'string');
}

/** A world for clients that mean no good. */
export type HostileWorld = World & {
  victim: Dealer;
  open(): RawSocket;
  send(bytes: string | Buffer, options?: { isHead?: boolean }): Promise<RawResponse>;
  /** A request with a good key. */
  keyed(line: string, headers?: string, body?: string): string;
  /** Asks on a fresh connection, as an honest client would. */
  assertServes(): Promise<void>;
};

const LATE_LIMIT = 10;

export async function startHostileWorld(overrides: Partial<AppOptions> = {}): Promise<HostileWorld> {
  const world = await startWorld(overrides);
  const victim = await world.dealer();
  await setRateLimit(world.db, TESTER, victim.integrationId, 100_000);
  const send = (bytes: string | Buffer, options?: { isHead?: boolean }) => sendRaw(world.port, bytes, options);
  const keyed = (line: string, headers = '', body = '') =>
    `${line}\r\nHost: x\r\nAuthorization: Bearer ${victim.apiKey}\r\n${headers}\r\n${body}`;
  return {
    ...world,
    victim,
    open: () => rawSocket(world.port),
    send,
    keyed,
    async assertServes() {
      // With a test's short timeouts a busy machine may be late with a good request too; it is then sent again.
      let response = await send(keyed('GET /api/v1/me HTTP/1.1'));
      for (let late = 0; response.status === 408 && late < LATE_LIMIT; late++) {
        response = await send(keyed('GET /api/v1/me HTTP/1.1'));
      }
      assert.deepEqual([response.status, response.body.id], [200, victim.integrationId], 'the server lives and serves');
    },
  };
}
