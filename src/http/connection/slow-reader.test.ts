import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cutSlowReader } from './slow-reader.ts';

const PERIOD_MS = 50;
/** More than what the sockets of both sides hold. */
const LARGE = Buffer.alloc(32 * 1_048_576, 'x');

/** An answer of the given handler, of which nothing was read yet. */
async function ask(t: TestContext, handle: (response: ServerResponse) => void): Promise<IncomingMessage> {
  const server = createServer((_request, response) => handle(response));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const request = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response;
}

describe('a client that takes its answer', () => {
  it('more slowly than it must is cut', async (t) => {
    const cut = Promise.withResolvers<void>();
    await ask(t, (response) => {
      response.once('close', cut.resolve);
      cutSlowReader(response, { periodMs: PERIOD_MS, bytes: 1 });
      response.end(LARGE);
    });
    await cut.promise;
  });

  it('as fast as it comes has it whole, however long the service takes for it', async (t) => {
    const answer = await ask(t, async (response) => {
      cutSlowReader(response, { periodMs: PERIOD_MS, bytes: LARGE.length });
      response.write('a');
      await sleep(4 * PERIOD_MS);
      response.end('b');
    });
    const text: Buffer[] = await answer.toArray();
    assert.equal(Buffer.concat(text).toString(), 'ab');
    assert.equal(answer.complete, true);
  });
});
