import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../test/harness/database/database.ts';
import { until } from '../../test/harness/database/locks.ts';
import { BUCKET, bucketSettings, startS3 } from '../../test/harness/servers/s3.ts';
import { readConfig } from '../config.ts';
import { newId } from '../ids/new-id.ts';
import { sweepPhotos } from '../inventory/photos/photo-sweep.ts';
import type { BucketSettings } from '../inventory/photos/storage/photo-bucket.ts';
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
    const open = async ({ bucket = photoBucket.bucket, retryMs = RETRY_MS } = {}) =>
      await openAt(t, { ...photoBucket, bucket }, { warnings, notices, retryMs });
    return { s3, warnings, notices, open };
  }

  async function openAt(
    t: TestContext,
    photoBucket: BucketSettings,
    { warnings = [] as string[], notices = [] as string[], retryMs = RETRY_MS } = {},
  ) {
    const storage = await openClaimedPhotoStorage({ ...readConfig({}), photoBucket }, database.db, {
      onWarning: (message) => warnings.push(message),
      onNotice: (message) => notices.push(message),
      retryMs,
      limits: SHORT,
    });
    t.after(storage.stop);
    return storage;
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

  it('that is no S3 storage is said to be none, without a word about the insides of the client', async (t) => {
    for (const { status, type, body, told } of [
      { status: 200, type: 'text/html', body: '<html><body>Console<br></body></html>', told: 'HTTP 200' },
      { status: 200, type: 'text/html', body: '<html><body>Console</body></html>', told: 'HTTP 200' },
      { status: 200, type: 'text/plain', body: '', told: 'HTTP 200' },
      { status: 404, type: 'application/json', body: '{"error":"not found"}', told: 'HTTP 404' },
      { status: 403, type: 'text/plain', body: 'Forbidden', told: 'HTTP 403' },
    ]) {
      const website = createServer((_request, response) => {
        response.writeHead(status, { 'content-type': type }).end(body);
      }).listen(0, '127.0.0.1');
      await once(website, 'listening');
      t.after(() => website.close());
      const endpoint = `http://127.0.0.1:${(website.address() as AddressInfo).port}`;
      await assert.rejects(openAt(t, bucketSettings({ endpoint })), {
        message: `photos cannot be kept in the bucket ${BUCKET}: what answers at PHOTO_S3_ENDPOINT is no S3 storage: its answer (${told}) is not one of S3; check PHOTO_S3_…`,
      });
    }
    const mailServer = createTcpServer((socket) => socket.end('220 mail.example.com ESMTP\r\n')).listen(0, '127.0.0.1');
    await once(mailServer, 'listening');
    t.after(() => mailServer.close());
    const endpoint = `http://127.0.0.1:${(mailServer.address() as AddressInfo).port}`;
    await assert.rejects(openAt(t, bucketSettings({ endpoint })), /is no S3 storage: its answer \(no HTTP\) is not/);
  });
});
