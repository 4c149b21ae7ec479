import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, it } from 'node:test';
import { createKeyedSemaphore } from '../../concurrency/limits/keyed-semaphore.ts';
import { onceClosed } from './once-closed.ts';
import { waitForSlot } from './wait-for-slot.ts';

describe('a response whose client has gone', () => {
  /** A response of a real server, and the way to let its client go. */
  async function openResponse(t: { after(work: () => void): void }) {
    const server = createServer();
    t.after(() => server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    t.after(() => client.destroy());
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    return { response, client };
  }

  it('releases what is taken before and after it went', async (t) => {
    const { response, client } = await openResponse(t);
    const released: string[] = [];
    onceClosed(response, () => released.push('before'));
    assert.equal(released.length, 0);
    client.destroy();
    await once(response, 'close');
    onceClosed(response, () => released.push('after'));
    assert.deepEqual(released, ['before', 'after']);
  });

  it('does not wait for a slot', async (t) => {
    const { response, client } = await openResponse(t);
    client.destroy();
    await once(response, 'close');
    const slots = createKeyedSemaphore({ total: 1, perKey: 1, waitingTotal: 1 });
    await slots.acquire('a');
    await assert.rejects(waitForSlot(slots, 'b', { raw: response }, {}), { name: 'SemaphoreError', reason: 'aborted' });
    assert.equal(slots.waiting(), 0);
  });
});
