import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../test/harness/database/database.ts';
import { until } from '../../test/harness/database/locks.ts';
import { bucketSettings, startS3 } from '../../test/harness/servers/s3.ts';
import { readConfig } from '../config.ts';
import { newId } from '../ids/new-id.ts';
import { sweepPhotos } from '../inventory/photos/photo-sweep.ts';
import { PhotoStorageError } from '../inventory/photos/storage/photo-storage-error.ts';
import { openClaimedPhotoStorage } from './claimed-photo-storage.ts';

const MARKER = 'crownwheel/crownwheel-installation.json';
/** Short enough to wait for, and long enough for a healthy answer. */
const SHORT = { answerMs: 1_000, readMs: 1_000, writeMs: 1_000 };
const RETRY_MS = 50;
const NEVER_MS = 600_000;

describe('a storage of photos at the start', () => {
  let database: TestDatabase;
  before(async () => {
    database = await cloneDatabase();
  });
  after(() => database.drop());

  async function prepare(t: TestContext) {
    const s3 = await startS3();
    t.after(s3.stop);
    const warnings: string[] = [];
    const notices: string[] = [];
    const photoBucket = bucketSettings(s3);
    const open = async ({ bucket = photoBucket.bucket, retryMs = RETRY_MS } = {}) => {
      const config = { ...readConfig({}), photoBucket: { ...photoBucket, bucket } };
      const storage = await openClaimedPhotoStorage(config, database.db, {
        onWarning: (message) => warnings.push(message),
        onNotice: (message) => notices.push(message),
        retryMs,
        limits: SHORT,
      });
      t.after(storage.stop);
      return storage;
    };
    return { s3, warnings, notices, open };
  }

  it('is marked at once if it answers', async (t) => {
    const { s3, warnings, open } = await prepare(t);
    const storage = await open();
    await storage.claim();
    assert.ok(s3.objects.has(MARKER));
    assert.deepEqual(warnings, []);
  });

  for (const fault of ['silent', 'failing'] as const) {
    it(`is a warning if it is ${fault}, and is marked as soon as it answers`, async (t) => {
      const { s3, warnings, notices, open } = await prepare(t);
      s3.faultOf = () => fault;
      const storage = await open();
      await storage.claim();
      assert.equal(warnings.length, 1);
      assert.match(warnings[0] ?? '', /does not answer/);
      await assert.rejects(storage.files.write(newId('photo'), 'original.jpg', Buffer.alloc(1)), PhotoStorageError);
      await assert.rejects(sweepPhotos(database.db, storage.files), PhotoStorageError);
      s3.faultOf = () => null;
      await until(async () => notices.length === 1, 'the storage was not asked again');
      assert.ok(s3.objects.has(MARKER));
      await storage.files.write(newId('photo'), 'original.jpg', Buffer.alloc(1));
    });
  }

  it('is marked before the first photo is written to it', async (t) => {
    const { s3, open } = await prepare(t);
    s3.faultOf = () => 'silent';
    const storage = await open({ retryMs: NEVER_MS });
    await storage.claim();
    s3.faultOf = () => null;
    await storage.files.write(newId('photo'), 'original.jpg', Buffer.alloc(1));
    assert.equal([...s3.objects.keys()][0], MARKER);
    assert.equal(await sweepPhotos(database.db, storage.files), 0);
  });

  it('of another installation is used and never swept, also if it answers late', async (t) => {
    const { s3, warnings, open } = await prepare(t);
    s3.objects.set(MARKER, Buffer.from('{"installation_id":"another"}'));
    s3.faultOf = () => 'silent';
    const storage = await open();
    await storage.claim();
    s3.faultOf = () => null;
    await until(async () => warnings.length === 2, 'nobody was warned');
    assert.match(warnings[1] ?? '', /belongs to another installation/);
    await storage.files.write(newId('photo'), 'original.jpg', Buffer.alloc(1));
    await assert.rejects(sweepPhotos(database.db, storage.files), /no file was removed/);
  });

  it('that refuses ends the start', async (t) => {
    const { open } = await prepare(t);
    await assert.rejects(open({ bucket: 'another' }), /photos cannot be kept in the bucket another: NoSuchBucket/);
  });
});
