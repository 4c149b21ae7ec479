import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../../../test/harness/database/database.ts';
import { bucketSettings, startS3 } from '../../../../test/harness/servers/s3.ts';
import { newId } from '../../../ids/new-id.ts';
import { sweepPhotos } from '../photo-sweep.ts';
import { photoBucket } from './photo-bucket.ts';
import type { PhotoFiles } from './photo-files.ts';
import { photoFolder } from './photo-folder.ts';
import { claimStorage, countStored, ownerOfStorage, removePhotoFiles, takeStorage } from './photo-storage-owner.ts';

const LATER_MS = 2 * 24 * 60 * 60 * 1000;
const SHARED = { isPrivate: false };

for (const [name, open] of [
  ['a folder', openFolder],
  ['a bucket', openBucket],
] as const) {
  describe(`${name} of photos`, () => {
    // Clones of one template: as with a dump that was restored elsewhere, even the installation's id is the same.
    let production: TestDatabase;
    let staging: TestDatabase;
    before(async () => {
      production = await cloneDatabase();
      staging = await cloneDatabase();
    });
    after(async () => {
      await production.drop();
      await staging.drop();
    });

    const sweep = ({ db }: TestDatabase, files: PhotoFiles) => sweepPhotos(db, files, Date.now() + LATER_MS);
    async function addPhotos(files: PhotoFiles, count: number): Promise<string[]> {
      const ids = Array.from({ length: count }, () => newId('photo'));
      for (const id of ids) await files.write(id, 'original.jpg', Buffer.from('a'));
      return ids;
    }
    const stored = async (files: PhotoFiles) =>
      (await Array.fromAsync(files.list())).flat().filter((id) => id.startsWith('pho_'));

    it('is marked by the first database that uses it, and swept by that one alone', async (t) => {
      const files = await open(t);
      assert.equal(await claimStorage(production.db, files, SHARED), 'ours');
      const ids = await addPhotos(files, 9);
      assert.equal(await claimStorage(staging.db, files, SHARED), 'foreign');
      assert.equal(await claimStorage(staging.db, files, { isPrivate: true }), 'foreign');
      await assert.rejects(sweep(staging, files), /no file was removed: the storage of photos is foreign/);
      assert.equal(await removePhotoFiles(staging.db, files, ids), false);
      assert.equal((await stored(files)).length, 9);
      assert.equal(await claimStorage(production.db, files, SHARED), 'ours');
      assert.equal(await sweep(production, files), 9);
      assert.deepEqual(await stored(files), []);
    });

    it('that has photos and no mark is left alone by everybody until an operator claims it', async (t) => {
      const files = await open(t);
      await addPhotos(files, 5);
      for (const one of [production, staging]) {
        assert.equal(await claimStorage(one.db, files, SHARED), 'unmarked');
        await assert.rejects(sweep(one, files), /is unmarked/);
      }
      assert.deepEqual(await countStored(production.db, files), { photos: 5, unknown: 5 });
      await takeStorage(production.db, files);
      assert.equal(await ownerOfStorage(production.db, files), 'ours');
      assert.equal(await ownerOfStorage(staging.db, files), 'foreign');
      assert.equal(await sweep(production, files), 5);
    });

    it('that has photos and no mark is adopted where no other database can use it', async (t) => {
      const files = await open(t);
      await addPhotos(files, 2);
      assert.equal(await claimStorage(production.db, files, { isPrivate: true }), 'ours');
    });

    it('goes to one of two that claim it at the same moment', async (t) => {
      const files = await open(t);
      const claims = await Promise.all([production, staging].map((one) => claimStorage(one.db, files, SHARED)));
      assert.deepEqual(claims.sort(), ['foreign', 'ours']);
    });

    it('with a marker that can’t be read is foreign', async (t) => {
      const files = await open(t);
      await files.writeMarker('{"installation_id":', 'new');
      assert.equal(await claimStorage(production.db, files, { isPrivate: true }), 'foreign');
    });
  });
}

async function openFolder(t: TestContext): Promise<PhotoFiles> {
  const dir = await mkdtemp(join(tmpdir(), 'crownwheel-storage-owner-'));
  t.after(() => rm(dir, { recursive: true }));
  return photoFolder(dir);
}

async function openBucket(t: TestContext): Promise<PhotoFiles> {
  const s3 = await startS3();
  t.after(s3.stop);
  return await photoBucket(bucketSettings(s3));
}
