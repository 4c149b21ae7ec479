import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { BUCKET, bucketSettings, startS3 } from '../../../../test/harness/servers/s3.ts';
import { newId } from '../../../ids/new-id.ts';
import { photoBucket } from './photo-bucket.ts';
import { FILE_BYTES_MAX, type PhotoFiles } from './photo-files.ts';
import { photoFolder } from './photo-folder.ts';

/** Both storages have to keep the same promises, so they pass the same tests. */
for (const [name, open] of [
  ['a folder', openFolder],
  ['a bucket', openBucket],
] as const) {
  describe(`photos in ${name}`, () => {
    let files: PhotoFiles;
    let close: () => Promise<void>;
    before(async () => {
      ({ files, close } = await open());
      await files.check();
    });
    after(() => close());

    it('are read as they were written, whole or as a stream', async () => {
      const id = newId('photo');
      const bytes = Buffer.from([0, 255, 13, 10, 128]);
      await files.write(id, 'original.jpg', bytes);
      assert.deepEqual(await files.read(id, 'original.jpg'), bytes);
      const opened = await files.open(id, 'original.jpg');
      assert.equal(opened?.size, bytes.length);
      assert.deepEqual(opened && (await buffer(opened.stream)), bytes);
    });

    it('report their size without being read', async () => {
      const id = newId('photo');
      await files.write(id, 'original.jpg', Buffer.alloc(1_234));
      assert.deepEqual(await files.stat(id, 'original.jpg'), { size: 1_234 });
      assert.equal(await files.stat(id, 'square.jpg'), null);
      assert.equal(await files.stat(newId('photo'), 'original.jpg'), null);
    });

    it('keep one marker: a new one never replaces another, and it is no photo', async () => {
      assert.equal(await files.readMarker(), null);
      assert.equal(await files.writeMarker('first', 'new'), true);
      assert.equal(await files.writeMarker('second', 'new'), false);
      assert.equal(await files.readMarker(), 'first');
      assert.equal(await files.writeMarker('third', 'replace'), true);
      assert.equal(await files.readMarker(), 'third');
      const listed = (await Array.fromAsync(files.list())).flat();
      assert.ok(listed.every((id) => id === '' || id.startsWith('pho_')));
    });

    it('are null where there are none', async () => {
      const id = newId('photo');
      assert.equal(await files.read(id, 'original.jpg'), null);
      assert.equal(await files.open(id, 'square.webp'), null);
      await files.remove([id]);
    });

    it('are listed by id, and go with all their files', async () => {
      const [kept, gone] = [newId('photo'), newId('photo')];
      for (const id of [kept, gone]) {
        await files.write(id, 'original.png', Buffer.from('a'));
        await files.write(id, 'square.webp', Buffer.from('b'));
      }
      const listed = async () => (await Array.fromAsync(files.list())).flat();
      const before = await listed();
      assert.equal(before.filter((id) => id === kept).length, 1);
      await files.remove([gone]);
      const after = await listed();
      assert.ok(after.includes(kept) && !after.includes(gone));
      assert.equal(await files.read(gone, 'square.webp'), null);
      assert.notEqual(await files.read(kept, 'square.webp'), null);
    });
  });
}

describe('a bucket that does not say how long its answers are', () => {
  it('is read up to the limit, as a whole and as a stream', async (t) => {
    const { files, close, s3 } = await openBucket();
    t.after(close);
    s3.hasNoLengths = true;
    const [small, large] = [newId('photo'), newId('photo')];
    const bytes = Buffer.from([0, 255, 13, 10, 128]);
    await files.write(small, 'original.jpg', bytes);
    assert.deepEqual(await files.read(small, 'original.jpg'), bytes);
    const opened = await files.open(small, 'original.jpg');
    assert.equal(opened?.size, null);
    assert.deepEqual(opened && (await buffer(opened.stream)), bytes);
    s3.objects.set(`crownwheel/${large.slice(-2)}/${large}/original.jpg`, Buffer.alloc(FILE_BYTES_MAX + 1));
    await assert.rejects(files.read(large, 'original.jpg'), /more than the 104857600 bytes/);
    const stream = (await files.open(large, 'original.jpg'))?.stream;
    await assert.rejects(stream?.toArray() ?? Promise.resolve(), /more than the 104857600 bytes/);
    s3.hasNoLengths = false;
    await assert.rejects(files.read(large, 'original.jpg'), /has 104857601 bytes/);
  });
});

describe('a storage that cannot take photos', () => {
  it('says so when it is checked', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'crownwheel-photo-files-'));
    await writeFile(join(dir, 'file'), '');
    await assert.rejects(photoFolder(join(dir, 'file', 'photos')).check(), /ENOTDIR/);
    const { files, close } = await openBucket('another-bucket');
    await assert.rejects(files.check(), /NoSuchBucket/);
    await close();
    await rm(dir, { recursive: true });
  });

  it('leaves nothing half-written behind', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'crownwheel-photo-files-'));
    const files = photoFolder(dir);
    const id = newId('photo');
    await files.write(id, 'original.jpg', Buffer.from('a'));
    const folder = join(dir, id.slice(-2), id);
    assert.deepEqual(await readdir(folder), ['original.jpg']);
    await rm(dir, { recursive: true });
  });
});

it('a folder takes the first photos of its subfolders, however many come at the same moment', async (t) => {
  const { files, close } = await openFolder();
  t.after(close);
  for (let round = 10; round < 100; round++) {
    const ids = Array.from({ length: 16 }, () => `${newId('photo').slice(0, -2)}${round}`);
    await Promise.all(ids.map((id) => files.write(id, 'original.jpg', Buffer.from('a'))));
  }
});

async function openFolder() {
  const dir = await mkdtemp(join(tmpdir(), 'crownwheel-photo-files-'));
  return { files: photoFolder(dir), close: () => rm(dir, { recursive: true }) };
}

/** The real client against a server that speaks as much of S3 as we use. */
async function openBucket(bucket = BUCKET) {
  const s3 = await startS3();
  const files = await photoBucket({ ...bucketSettings(s3), bucket });
  return { files, close: s3.stop, s3 };
}
