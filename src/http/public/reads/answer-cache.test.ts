import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdmittedIntegration } from '../authentication.ts';
import { createAnswerCache } from './answer-cache.ts';

describe('the cache of answers', () => {
  const QUESTION = 'listings 50';
  const URL = '/api/v1/listings?limit=50';
  const body = (text: string) => Buffer.from(`${text} `.repeat(500));
  const made = (text: string) => ({ body: body(text), version: null, validUntilMs: null, isCurrent: true });
  const admitted = (clockMs: number, changes: Partial<AdmittedIntegration> = {}): AdmittedIntegration => ({
    integrationId: 'int_1',
    organizationId: 'org_1',
    isEnabled: true,
    isProvisioned: true,
    hasPlan: true,
    isTestMode: false,
    currency: 'USD',
    country: null,
    apiVersion: '2026-01-01',
    rateLimitOverride: null,
    storageQuotaMb: null,
    clockMs,
    nowMs: 1_000,
    ...changes,
  });
  const open = () => createAnswerCache(1_000_000);

  it('finds an answer under its clock and its version, and no other', () => {
    const cache = open();
    const answer = cache.keep(admitted(1), QUESTION, made('one'));
    assert.equal(cache.find(admitted(1), QUESTION), answer);
    assert.equal(cache.find(admitted(2), QUESTION), null);
    assert.equal(cache.find(admitted(1, { apiVersion: '2027-01-01' }), QUESTION), null);
    assert.equal(cache.find(admitted(1, { integrationId: 'int_2' }), QUESTION), null);
  });

  it('finds it by a URL that was remembered, also after the answer was made anew', () => {
    const cache = open();
    cache.keep(admitted(1), QUESTION, made('one'));
    assert.equal(cache.findByUrl(admitted(1), URL), null);
    cache.rememberUrl(admitted(1), URL, QUESTION);
    assert.equal(cache.findByUrl(admitted(1), URL), cache.find(admitted(1), QUESTION));
    assert.equal(cache.findByUrl(admitted(2), URL), null);
    const anew = cache.keep(admitted(2), QUESTION, made('two'));
    assert.equal(cache.findByUrl(admitted(2), URL), anew);
    assert.equal(cache.findByUrl(admitted(2, { integrationId: 'int_2' }), URL), null);
  });

  it('finds it at once where the URL is itself the question', () => {
    const cache = open();
    const plain = '/api/v1/listings/lst_1';
    const answer = cache.keep(admitted(1), plain, made('one'));
    assert.equal(cache.findByUrl(admitted(1), plain), answer);
    assert.equal(cache.findByUrl(admitted(2), plain), null);
    assert.equal(cache.findByUrl(admitted(1, { integrationId: 'int_2' }), plain), null);
  });

  it('keeps what was compressed when a later answer has the same bytes, and drops it when it has others', async () => {
    const cache = open();
    const first = cache.keep(admitted(1), QUESTION, made('one'));
    const gzip = await cache.bodyOf(admitted(1), QUESTION, first, 'gzip');
    const same = cache.keep(admitted(2), QUESTION, made('one'));
    assert.deepEqual([same.etag, same.bodies.gzip], [first.etag, gzip]);
    assert.equal(cache.find(admitted(1), QUESTION), null);
    const other = cache.keep(admitted(3), QUESTION, made('two'));
    assert.notEqual(other.etag, first.etag);
    assert.equal(other.bodies.gzip, undefined);
  });

  it('keeps what is compressed while the same bytes are found anew', async () => {
    const cache = open();
    const first = cache.keep(admitted(1), QUESTION, made('one'));
    const compressing = cache.bodyOf(admitted(1), QUESTION, first, 'br');
    cache.keep(admitted(2), QUESTION, made('one'));
    const compressed = await compressing;
    assert.equal(cache.find(admitted(2), QUESTION)?.bodies.br, compressed);
  });

  it('does not let a slow request replace what a later one has made', () => {
    const cache = open();
    const later = cache.keep(admitted(2), QUESTION, made('new'));
    cache.keep(admitted(1), QUESTION, made('old'));
    assert.equal(cache.find(admitted(2), QUESTION), later);
  });

  it('keeps nothing that may change without a stamp, and nothing beyond its time', () => {
    const cache = open();
    cache.keep(admitted(1), QUESTION, { ...made('one'), isCurrent: false });
    assert.equal(cache.find(admitted(1), QUESTION), null);
    cache.keep(admitted(1), QUESTION, { ...made('one'), validUntilMs: 2_000 });
    assert.ok(cache.find(admitted(1, { nowMs: 1_999 }), QUESTION));
    assert.equal(cache.find(admitted(1, { nowMs: 2_000 }), QUESTION), null);
  });
});
