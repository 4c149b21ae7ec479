import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { createSenders } from './senders.ts';

function requestWith(headers: IncomingHttpHeaders, remoteAddress = '192.0.2.1'): IncomingMessage {
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage;
}

describe('the sender of a request', () => {
  it('is an address until its key or session is known, then an integration or a person', () => {
    const senders = createSenders();
    const headers = { authorization: 'Bearer a' };
    assert.equal(senders.of(requestWith(headers)), '192.0.2.1');
    senders.note(headers, 'int_1');
    assert.equal(senders.of(requestWith(headers)), 'int_1');
    assert.equal(senders.of(requestWith({ authorization: 'Bearer b' })), '192.0.2.1');
    assert.equal(senders.of(requestWith({})), '192.0.2.1');
  });

  it('is one person with any number of sessions', () => {
    const senders = createSenders();
    for (let session = 0; session < 50; session++) senders.note({ cookie: `session=${session}` }, 'usr_1');
    assert.equal(senders.of(requestWith({ cookie: 'session=0' })), 'usr_1');
    assert.equal(senders.of(requestWith({ cookie: 'session=49' })), 'usr_1');
  });

  it('is who owns the key by now', () => {
    const senders = createSenders();
    senders.note({ authorization: 'Bearer a' }, 'int_1');
    senders.note({ authorization: 'Bearer a' }, 'int_2');
    assert.equal(senders.of(requestWith({ authorization: 'Bearer a' })), 'int_2');
  });

  it('does not keep long headers, whatever stands beside a good session', () => {
    const senders = createSenders();
    const headers = { cookie: `session=1; padding=${'x'.repeat(10_000)}` };
    senders.note(headers, 'usr_1');
    assert.equal(senders.of(requestWith(headers)), '192.0.2.1');
  });
});
