import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { picture } from '../../../test/harness/photos.ts';
import { SemaphoreError } from '../../concurrency/limits/keyed-semaphore.ts';
import { prepareUpload, TooManyUploadsError } from './encode-photos.ts';
import { photoWeight, uploadsOf, variantsFor, withPhotoMemory } from './photo-memory.ts';

const GIB = 1_073_741_824;
const of = (megapixels: number) => ({ width: megapixels * 1_000, height: 1_000 });

describe('the memory of a picture', () => {
  it('counts as the share of one picture while it is small', () => {
    assert.equal(photoWeight(of(1), ['jpeg'], 2), GIB / 2);
    assert.equal(photoWeight(of(24), ['png', 'webp'], 2), GIB / 2);
    assert.equal(photoWeight(of(1), ['jpeg'], 1), GIB);
  });

  it('counts by pixels and format beyond, up to all of it, so that a large picture runs alone', () => {
    assert.equal(photoWeight(of(50), ['jpeg'], 2), 650_000_000);
    assert.equal(photoWeight(of(24), ['jpeg', 'avif'], 2), 912_000_000);
    assert.equal(photoWeight(of(50), ['avif'], 2), GIB);
  });
});

describe('pictures that wait for memory', () => {
  const LARGE = { width: 20_000, height: 5_000 };
  const WAITING_MAX_PER_NETWORK = 100;

  it('are made round-robin for the networks of visitors and for uploads; one network alone is refused', async () => {
    const made: string[] = [];
    const first = Promise.withResolvers<void>();
    const make = (key: Parameters<typeof withPhotoMemory>[0], name: string, until?: Promise<void>) =>
      withPhotoMemory(key, LARGE, ['jpeg'], async () => {
        await until;
        made.push(name);
      });
    const [loud, quiet] = [variantsFor('203.0.113.1'), variantsFor('203.0.113.2')];
    const all = [make(loud, 'first', first.promise)];
    for (let waiting = 0; waiting < WAITING_MAX_PER_NETWORK; waiting++) all.push(make(loud, 'loud'));
    await assert.rejects(make(loud, 'too many'), (error) => error instanceof SemaphoreError && error.reason === 'full');
    all.push(make(quiet, 'quiet'), make(uploadsOf('org_1'), 'upload'));
    first.resolve();
    await Promise.all(all);
    assert.deepEqual(made.slice(0, 5), ['first', 'upload', 'quiet', 'loud', 'loud']);
  });

  it('are refused as too many when they are uploads and their time is up, or whoever uploads has gone', async () => {
    const held = Promise.withResolvers<void>();
    const holding = withPhotoMemory(uploadsOf('org_1'), LARGE, ['jpeg'], () => held.promise);
    const upload = await picture('jpeg', 20, 10);
    await assert.rejects(prepareUpload('org_2', upload, { waitMs: 50 }), TooManyUploadsError);
    const leaving = new AbortController();
    const left = assert.rejects(prepareUpload('org_2', upload, { signal: leaving.signal }), TooManyUploadsError);
    leaving.abort();
    await left;
    held.resolve();
    await holding;
    assert.equal((await prepareUpload('org_2', upload)).width, 20);
  });
});
