import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { clientAddress, proxyProblem } from './client-address.ts';

function from(remoteAddress: string, forwarded?: string): FastifyRequest {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress }, headers } as unknown as FastifyRequest;
}

describe('the address of a client', () => {
  const proxies = ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'];

  it('is the peer’s where no proxy is trusted, whatever X-Forwarded-For says', () => {
    assert.equal(clientAddress(from('203.0.113.5', '198.51.100.1'), []), '203.0.113.5');
    assert.equal(clientAddress(from('203.0.113.5', '198.51.100.1'), proxies), '203.0.113.5');
  });

  it('is the last one that a trusted proxy has written', () => {
    assert.equal(clientAddress(from('10.1.2.3', '198.51.100.1'), proxies), '198.51.100.1');
    assert.equal(
      clientAddress(from('::ffff:10.1.2.3', '198.51.100.9, 198.51.100.1, 192.0.2.1'), proxies),
      '198.51.100.1',
    );
    assert.equal(clientAddress(from('2001:db8::7', '2001:db9::1'), proxies), '2001:db9::1');
  });

  it('is the proxy’s own where the header is missing or nonsense', () => {
    assert.equal(clientAddress(from('10.1.2.3'), proxies), '10.1.2.3');
    assert.equal(clientAddress(from('10.1.2.3', 'nonsense'), proxies), '10.1.2.3');
  });

  it('needs settings that are addresses or ranges', () => {
    assert.equal(proxyProblem('10.0.0.0/8'), null);
    assert.match(proxyProblem('proxy.example') ?? '', /neither an address nor a range/);
  });
});
