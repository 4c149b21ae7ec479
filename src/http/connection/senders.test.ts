import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { createSenders } from './senders.ts';

const ADDRESS = { group: '192.0.2.1', key: '192.0.2.1' };
const INTEGRATION = { group: 'org_1', key: 'int_1' };
const PERSON = { group: 'org_1', key: 'usr_1' };

function requestWith(headers: IncomingHttpHeaders, remoteAddress = '192.0.2.1'): IncomingMessage {
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage;
}

describe('the sender of a request', () => {
  it('is an address until its key or session is known, then an integration or a person', () => {
    const senders = createSenders([]);
    const headers = { authorization: 'Bearer a' };
    assert.deepEqual(senders.of(requestWith(headers)), ADDRESS);
    senders.note(headers, INTEGRATION);
    assert.deepEqual(senders.of(requestWith(headers)), INTEGRATION);
    assert.deepEqual(senders.of(requestWith({ authorization: 'Bearer b' })), ADDRESS);
    assert.deepEqual(senders.of(requestWith({})), ADDRESS);
  });

  it('is one person with any number of sessions', () => {
    const senders = createSenders([]);
    for (let session = 0; session < 50; session++) senders.note({ cookie: `session=${session}` }, PERSON);
    assert.deepEqual(senders.of(requestWith({ cookie: 'session=0' })), PERSON);
    assert.deepEqual(senders.of(requestWith({ cookie: 'session=49' })), PERSON);
  });

  it('is who owns the key by now', () => {
    const senders = createSenders([]);
    senders.note({ authorization: 'Bearer a' }, INTEGRATION);
    for (const owner of [
      { group: 'org_1', key: 'int_2' },
      { group: 'org_2', key: 'int_2' },
    ]) {
      senders.note({ authorization: 'Bearer a' }, owner);
      assert.deepEqual(senders.of(requestWith({ authorization: 'Bearer a' })), owner);
    }
  });

  it('does not keep long headers, whatever stands beside a good session', () => {
    const senders = createSenders([]);
    const headers = { cookie: `session=1; padding=${'x'.repeat(10_000)}` };
    senders.note(headers, PERSON);
    assert.deepEqual(senders.of(requestWith(headers)), ADDRESS);
  });

  it('is the network that a trusted proxy names, and one network with all addresses of a customer', () => {
    const senders = createSenders(['192.0.2.1']);
    const from = (address: string) => senders.of(requestWith({ 'x-forwarded-for': address })).group;
    assert.equal(from('198.51.100.7'), '198.51.100.7');
    assert.equal(from('2001:db8::1'), from('2001:db8::2'));
    assert.notEqual(from('2001:db8::1'), from('2001:db9::1'));
  });
});
