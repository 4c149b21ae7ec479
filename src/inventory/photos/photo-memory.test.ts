import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import sharp from 'sharp';
import { picture } from '../../../test/harness/photos.ts';
import { SemaphoreError } from '../../concurrency/limits/keyed-semaphore.ts';
import { prepareUpload, TooManyUploadsError } from './encode-photos.ts';
import {
  PICTURE_MEMORY_BYTES,
  UPLOADS_WAITING_MAX_PER_DEALER,
  uploadWeight,
  variantWeight,
  withUploadMemory,
  withVariantMemory,
} from './photo-memory.ts';

const MEGABYTE = 1_000_000;
const of = (megapixels: number) => ({ width: megapixels * 1_000, height: 1_000 });

describe('the memory of a picture', () => {
  it('counts what is encoded, what is read, and what a decoder keeps of it', () => {
    assert.equal(uploadWeight({ ...of(10), wholeBytes: 0 }, 'jpeg'), 140 * MEGABYTE);
    assert.equal(uploadWeight({ ...of(100), wholeBytes: 300 * MEGABYTE }, 'jpeg'), 712 * MEGABYTE);
    assert.ok(uploadWeight({ ...of(50), wholeBytes: 0 }, 'avif') < PICTURE_MEMORY_BYTES);
    assert.equal(variantWeight(of(24), 'png', 'webp'), 312 * MEGABYTE);
    assert.equal(variantWeight(of(24), 'jpeg', 'avif'), 1_056 * MEGABYTE);
  });

  it('is refused if it is more than a node has to have room for: four components of 100 megapixels, kept whole', async () => {
    const plain = sharp({ create: { width: 400, height: 300, channels: 3, background: '#a53' } });
    const file = await plain.toColourspace('cmyk').jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer();
    const frame = file.indexOf(Buffer.from([0xff, 0xc2]));
    file.writeUInt16BE(10_000, frame + 5);
    file.writeUInt16BE(10_000, frame + 7);
    await assert.rejects(prepareUpload('org_1', file), /takes too much memory or time/);
  });
});

describe('pictures that wait for memory', () => {
  /** In the order in which they are made. */
  const made: string[] = [];
  const upload = (dealer: string, weight: number, until?: Promise<void>) =>
    withUploadMemory(dealer, weight, async () => {
      made.push(dealer);
      await until;
    });

  it('are made round-robin for the dealers whose variants they are', async () => {
    const names: string[] = [];
    const first = Promise.withResolvers<void>();
    const make = (dealer: string, until?: Promise<void>) =>
      withVariantMemory(dealer, PICTURE_MEMORY_BYTES, async () => {
        names.push(dealer);
        await until;
      });
    const all = [make('loud', first.promise), make('loud'), make('loud'), make('loud'), make('quiet')];
    first.resolve();
    await Promise.all(all);
    assert.ok(names.indexOf('quiet') <= 2, names.join());
  });

  it('of one dealer leave room for a variant of another, however large and many they are', async () => {
    const free = Promise.withResolvers<void>();
    const slow = Array.from({ length: 20 }, () => withVariantMemory('loud', PICTURE_MEMORY_BYTES, () => free.promise));
    const ordinary = variantWeight(of(24), 'jpeg', 'webp');
    assert.equal(await withVariantMemory('quiet', ordinary, async () => 'made'), 'made');
    free.resolve();
    await Promise.all(slow);
  });

  it('keep no upload waiting while they are variants, and no variant while they are uploads', async () => {
    const free = Promise.withResolvers<void>();
    const variantFree = Promise.withResolvers<void>();
    const variant = withVariantMemory('org_1', PICTURE_MEMORY_BYTES, () => variantFree.promise);
    assert.equal((await prepareUpload('org_1', await picture('jpeg', 20, 10))).width, 20);
    const uploads = ['org_1', 'org_2'].map((dealer) => upload(dealer, PICTURE_MEMORY_BYTES, free.promise));
    variantFree.resolve();
    await variant;
    assert.equal(await withVariantMemory('org_2', PICTURE_MEMORY_BYTES, async () => 'made'), 'made');
    free.resolve();
    await Promise.all(uploads);
  });

  it('of one dealer leave room for an upload of another, however large and many they are', async () => {
    const free = Promise.withResolvers<void>();
    const slow = Array.from({ length: 1 + UPLOADS_WAITING_MAX_PER_DEALER }, () =>
      upload('org_loud', PICTURE_MEMORY_BYTES, free.promise),
    );
    const full = (error: unknown) => error instanceof SemaphoreError && error.reason === 'full';
    await assert.rejects(upload('org_loud', 1), full);
    assert.equal((await prepareUpload('org_quiet', await picture('jpeg', 20, 10))).width, 20);
    assert.equal(made.filter((dealer) => dealer === 'org_loud').length, 1);
    free.resolve();
    await Promise.all(slow);
  });

  it('are refused as too many when they are uploads and their time is up, or whoever uploads has gone', async () => {
    const held = Promise.withResolvers<void>();
    const holding = ['org_1', 'org_3'].map((dealer) => upload(dealer, 1, held.promise));
    const file = await picture('jpeg', 20, 10);
    await assert.rejects(prepareUpload('org_2', file, { waitMs: 50 }), TooManyUploadsError);
    const leaving = new AbortController();
    const left = assert.rejects(prepareUpload('org_2', file, { signal: leaving.signal }), TooManyUploadsError);
    leaving.abort();
    await left;
    held.resolve();
    await Promise.all(holding);
    assert.equal((await prepareUpload('org_2', file)).width, 20);
  });
});
