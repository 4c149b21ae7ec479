import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Operation } from '../../src/contract/operations/operation.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { setRateLimit } from '../../src/dealers/integrations/integrations.ts';
import { TESTER } from '../harness/actor.ts';
import { exchange } from '../harness/http/api-client.ts';
import { sendRaw } from '../harness/http/raw-socket.ts';
import { type Dealer, startWorld, type World } from '../harness/world.ts';

const property = { numRuns: 200, seed: Date.now() & 0x7fffffff };
const operations: Operation[] = Object.values(OPERATIONS);

/** Whatever a client sends is the client's affair: it never becomes a fault of the server. */
describe('random input', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    await setRateLimit(world.db, TESTER, dealer.integrationId, 1_000_000);
  });
  after(() => world.stop());

  function assertNoFault(status: number, text: string): void {
    assert.ok(status < 500, `${status} ${text}`);
    if (status >= 400 && text !== '') assert.match(JSON.parse(text).error.code, /^[a-z_]+$/);
  }

  /** Text in which something other than letters is likely. */
  const odd = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('', '0', '-1', 'null', '%00', '%', '\\', "'", '__proto__', 'Infinity', '1e999', '٣', '\u0000', '*'),
  );

  it('in the target of a request is answered as one', async (t) => {
    t.diagnostic(`seed ${property.seed}`);
    const piece = fc.oneof(
      fc.constantFrom(
        '/',
        '//',
        'api',
        'v1',
        'me',
        'listings',
        '..',
        '%',
        '%2F',
        '%00',
        '%FF',
        '?',
        '#',
        ';',
        '&',
        '=',
        '*',
        ':',
      ),
      fc.string({ unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 5 }),
    );
    const target = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(target, fc.constantFrom('', '/', '/api/v1/', '/api/v1/me'), async (tail, head) => {
        const request = `GET ${head}${tail} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${dealer.apiKey}\r\n\r\n`;
        const response = await sendRaw(world.port, Buffer.from(request, 'latin1'));
        assert.ok(response.status < 500, response.text);
        assert.match(response.headers['x-request-id'] ?? '', /^req_/);
        assert.ok(response.headers['content-security-policy']);
      }),
      property,
    );
  });

  it('in the headers of a request is answered as one', async (t) => {
    t.diagnostic(`seed ${property.seed}`);
    const unit = fc.integer({ min: 0, max: 0xff }).map((code) => String.fromCharCode(code));
    const name = fc.constantFrom(
      'Authorization',
      'Idempotency-Key',
      'Content-Type',
      'Content-Length',
      'Host',
      'Expect',
      'If-None-Match',
      'Accept-Encoding',
      'Connection',
      'Transfer-Encoding',
    );
    await fc.assert(
      fc.asyncProperty(name, fc.string({ unit, maxLength: 20 }), async (header, value) => {
        const request = `GET /api/v1/listings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${dealer.apiKey}\r\n${header}: ${value}\r\n\r\n`;
        const response = await sendRaw(world.port, Buffer.from(request, 'latin1'));
        assert.ok(response.status < 500, response.text);
        assert.match(response.headers['x-request-id'] ?? '', /^req_/);
      }),
      property,
    );
  });

  it('in parameters is refused or served', async (t) => {
    t.diagnostic(`seed ${property.seed}`);
    const names = ['limit', 'after', 'updated_after', 'created_after', 'status', 'type', 'other'];
    const query = fc.array(fc.tuple(fc.constantFrom(...names), odd), { maxLength: 4 });
    const reads = operations.filter((operation) => operation.method === 'GET');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...reads), odd, query, async (operation, id, pairs) => {
        const path = operation.path.replaceAll(/\{\w+\}/g, encodeURIComponent(id.toWellFormed()) || 'x');
        const text = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&');
        const { status, text: body } = await exchange(`${world.origin}/api${path}?${text}`, {
          headers: { authorization: `Bearer ${dealer.apiKey}` },
        });
        assertNoFault(status, body);
      }),
      property,
    );
  });

  it('in bodies is refused or taken', async (t) => {
    t.diagnostic(`seed ${property.seed}`);
    const writes = operations.filter((operation) => operation.body !== null);
    const value = fc.oneof(
      fc.jsonValue(),
      odd,
      fc.double(),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(Number),
    );
    /** An example of a good body in which some values were replaced. */
    const bodyOf = (operation: Operation) =>
      fc
        .infiniteStream(fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value }))
        .map((stream) => {
          const replace = (node: unknown): unknown => {
            const replacement = stream.next().value;
            if (replacement !== null) return replacement;
            if (Array.isArray(node)) return node.map(replace);
            if (node === null || typeof node !== 'object') return node;
            return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, replace(inner)]));
          };
          return replace(operation.bodyExample ?? {});
        });
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...writes).chain((operation) => fc.tuple(fc.constant(operation), bodyOf(operation))),
        async ([operation, body]) => {
          sent += 1;
          const path = operation.path.replaceAll(/\{\w+\}/g, 'ord_01h455vb4pex5vsknk084sn02q');
          const { status, text } = await exchange(`${world.origin}/api${path}`, {
            method: operation.method,
            headers: {
              authorization: `Bearer ${dealer.apiKey}`,
              'idempotency-key': `fuzz-${sent}`,
              'content-type': 'application/json',
            },
            body: JSON.stringify(body),
          });
          assertNoFault(status, text);
        },
      ),
      property,
    );
  });
});
