import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../../test/harness/database/locks.ts';
import { bucketSettings, type S3Fault, type S3Server, startS3 } from '../../../../test/harness/servers/s3.ts';
import { newId } from '../../../ids/new-id.ts';
import { withIdleLimit } from './idle-limit.ts';
import { limitedFiles, type StorageLimits } from './limited-files.ts';
import { photoBucket } from './photo-bucket.ts';
import type { PhotoFiles } from './photo-files.ts';
import { PhotoStorageError } from './photo-storage-error.ts';

/** Longer than a healthy answer takes on a busy machine, which these tests need none of. */
const SHORT_MS = 300;
const SHORT: StorageLimits = {
  answerMs: SHORT_MS,
  readMs: SHORT_MS,
  writeMs: SHORT_MS,
  writeBytesPerSecond: 1_000_000,
  idleMs: SHORT_MS,
};
/** Patient, where an error of the storage itself is expected and the client tries again before. */
const PATIENT_MS = 60_000;

const photoId = newId('photo');
const CALLS: Record<string, (files: PhotoFiles) => Promise<unknown>> = {
  write: (files) => files.write(photoId, 'square.webp', Buffer.alloc(10)),
  read: (files) => files.read(photoId, 'original.jpg'),
  async open(files) {
    const opened = await files.open(photoId, 'original.jpg');
    return opened && (await buffer(opened.stream));
  },
  stat: (files) => files.stat(photoId, 'original.jpg'),
  remove: (files) => files.remove([photoId]),
  list: (files) => Array.fromAsync(files.list()),
  check: (files) => files.check(),
  readMarker: (files) => files.readMarker(),
  writeMarker: (files) => files.writeMarker('text', 'replace'),
};
/** A body of an answer that has none cannot stall, nor be cut. */
const WITHOUT_BODY = ['stat', 'write', 'writeMarker'];

function isOurs(error: unknown): boolean {
  assert.ok(error instanceof PhotoStorageError, String(error));
  assert.equal(error.isTemporary, true, error.message);
  return true;
}

describe('a storage that fails', () => {
  let s3: S3Server;
  let bucket: PhotoFiles;
  before(async () => {
    s3 = await startS3();
    bucket = await photoBucket(bucketSettings(s3));
    for (const method of ['write', 'writeMarker']) await CALLS[method]?.(bucket);
    await bucket.write(photoId, 'original.jpg', Buffer.alloc(100_000));
  });
  after(() => s3.stop());

  for (const [method, call] of Object.entries(CALLS)) {
    for (const fault of ['silent', 'stalled', 'failing', 'truncated'] satisfies S3Fault[]) {
      if (WITHOUT_BODY.includes(method) && (fault === 'stalled' || fault === 'truncated')) continue;
      it(`fails ${method} in time when it is ${fault}, and holds no connection afterwards`, async (t) => {
        s3.faultOf = () => fault;
        t.after(() => {
          s3.faultOf = () => null;
        });
        const isEnding = fault === 'failing' || fault === 'truncated';
        const limits = isEnding ? { answerMs: PATIENT_MS, readMs: PATIENT_MS, writeMs: PATIENT_MS } : SHORT;
        await assert.rejects(call(limitedFiles(bucket, limits)), isOurs);
        await until(async () => s3.unanswered() === 0, 'a request to the storage is still under way');
      });
    }

    it(`fails ${method} in time whatever its client does`, async () => {
      const never = new Promise<never>(() => {});
      const deaf = new Proxy({} as PhotoFiles, {
        get: (_target, name) =>
          name === 'list' ? () => ({ [Symbol.asyncIterator]: () => ({ next: () => never }) }) : () => never,
      });
      await assert.rejects(call(limitedFiles(deaf, SHORT)), isOurs);
    });
  }

  it('ends reading and writing when whoever asked has gone', async () => {
    s3.faultOf = () => 'silent';
    const files = limitedFiles(bucket, { answerMs: PATIENT_MS, readMs: PATIENT_MS, writeMs: PATIENT_MS });
    const leaving = new AbortController();
    const all = [
      files.read(photoId, 'original.jpg', leaving.signal),
      files.open(photoId, 'original.jpg', leaving.signal),
      files.stat(photoId, 'original.jpg', leaving.signal),
      files.write(photoId, 'square.webp', Buffer.alloc(10), leaving.signal),
    ];
    const ended = Promise.allSettled(all);
    await until(async () => s3.unanswered() === all.length, 'not everything was asked for');
    leaving.abort();
    for (const { status } of await ended) assert.equal(status, 'rejected');
    await until(async () => s3.unanswered() === 0, 'a request to the storage is still under way');
    s3.faultOf = () => null;
    assert.equal((await files.read(photoId, 'original.jpg'))?.length, 100_000);
  });

  it('that refuses is not taken for one that is away', async () => {
    const other = limitedFiles(await photoBucket({ ...bucketSettings(s3), bucket: 'another' }));
    await assert.rejects(other.check(), (error) => error instanceof PhotoStorageError && !error.isTemporary);
  });

  it('closes a file that it opens too late', async () => {
    const opening = Promise.withResolvers<{ stream: Readable; size: null }>();
    const files = limitedFiles({ ...bucket, open: () => opening.promise }, SHORT);
    await assert.rejects(files.open(photoId, 'original.jpg'), isOurs);
    const stream = Readable.from(['late']);
    opening.resolve({ stream, size: null });
    await until(async () => stream.destroyed, 'the file is still open');
  });
});

describe('a file that is sent', () => {
  it('passes through unchanged, in pieces', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const pieces = Array.from({ length: 100 }, (_, index) => bytes.subarray(index * 3_000, (index + 1) * 3_000));
    const sent = withIdleLimit(Readable.from(pieces, { objectMode: false }), PATIENT_MS);
    assert.deepEqual(await buffer(sent), bytes);
  });

  it('is not stalled while nobody reads it', async () => {
    const bytes = Buffer.alloc(1_000_000, 'x');
    const sent = withIdleLimit(Readable.from([bytes, bytes], { objectMode: false }), SHORT_MS);
    sent.read(0);
    await new Promise((resolve) => setTimeout(resolve, 3 * SHORT_MS));
    assert.equal(sent.destroyed, false);
    assert.equal((await buffer(sent)).length, 2_000_000);
  });

  it('is closed at its source when its reader goes', async () => {
    const source = new Readable({ read() {} });
    const sent = withIdleLimit(source, PATIENT_MS);
    sent.resume();
    sent.destroy();
    await until(async () => source.destroyed, 'the source is still open');
  });
});
