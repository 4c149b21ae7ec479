import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it, type TestContext } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { cloneDatabase } from '../../../test/harness/database/database.ts';
import { until } from '../../../test/harness/database/locks.ts';
import { signedIn } from '../../../test/harness/http/dashboard-client.ts';
import { rawSocket } from '../../../test/harness/http/raw-socket.ts';
import { picture } from '../../../test/harness/photos.ts';
import { bucketSettings, type S3Server, startS3 } from '../../../test/harness/servers/s3.ts';
import { watch } from '../../../test/harness/stock.ts';
import { startWorld } from '../../../test/harness/world.ts';
import { createItem } from '../../inventory/items/item-operations.ts';
import { createPhotoReader } from '../../inventory/photos/photo-reader.ts';
import { limitedFiles, type StorageLimits } from '../../inventory/photos/storage/limited-files.ts';
import { photoBucket } from '../../inventory/photos/storage/photo-bucket.ts';
import type { AppOptions } from '../app-options.ts';
import { SLOWEST_FILE_BYTES } from '../connection/slow-reader.ts';

/** Longer than any test: what has to go on goes on beside it. */
const NEVER_MS = 600_000;
const PATIENT = { answerMs: NEVER_MS, readMs: NEVER_MS, writeMs: NEVER_MS, idleMs: NEVER_MS };
const SHORT = { answerMs: 1_000, readMs: 1_000, writeMs: 1_000, idleMs: 1_000 };
const LIMIT_MS = 120_000;
const [NETWORK, OTHER_NETWORK] = ['203.0.113.1', '203.0.113.2'];
/** What nobody reads does not fit into the buffers of connections. */
const LARGE_BYTES = 24_000_000;

async function open(limits: Partial<StorageLimits>, options: Partial<AppOptions> = {}) {
  const s3 = await startS3();
  const files = limitedFiles(await photoBucket(bucketSettings(s3)), limits);
  const database = await cloneDatabase();
  const world = await startWorld({
    ...options,
    database,
    dashboard: { photoFiles: files },
    photoReader: createPhotoReader(database.db, files, () => {}),
    trustedProxies: ['127.0.0.1'],
  });
  const bytes = await picture('jpeg', 40, 30);

  /** Somebody of another dealer, with an item. */
  async function dealer() {
    const person = await signedIn(world);
    const itemId = await createItem(world.channel, TESTER, person.organizationId, watch());
    async function send(path: string, body: Buffer | string, signal: AbortSignal | null = null) {
      const headers = { origin: world.channel.publicUrl, cookie: person.cookie() };
      return await fetch(`${world.origin}/api/dashboard${path}`, { method: 'POST', headers, body, signal });
    }
    return {
      itemId,
      send,
      upload: (signal?: AbortSignal) => send(`/items/${itemId}/photos`, bytes, signal),
      uploadCsv: () => send('/imports?kind=listing', 'stock_number,title\nA-1,One\n'),
      async photo(): Promise<string> {
        const answer = await send(`/items/${itemId}/photos`, bytes);
        const text = await answer.text();
        assert.equal(answer.status, 200, text);
        return JSON.parse(text).id;
      },
    };
  }

  const load = (name: string, { network = NETWORK, method = 'GET', signal = null as AbortSignal | null } = {}) =>
    fetch(`${world.origin}/photos/${name}`, { method, signal, headers: { 'x-forwarded-for': network } });

  return { s3, world, dealer, load, keyOf: (id: string) => `crownwheel/${id.slice(-2)}/${id}/original.jpg` };
}

type Opened = Awaited<ReturnType<typeof open>>;

function healAfter(s3: () => S3Server): void {
  afterEach(() => {
    s3().faultOf = () => null;
  });
}

async function closeAll({ world, s3 }: Opened): Promise<void> {
  await world.stop();
  await s3.stop();
}

describe('a storage of photos that hangs', { timeout: LIMIT_MS }, () => {
  let opened: Opened;
  before(async () => {
    opened = await open(PATIENT);
  });
  after(() => closeAll(opened));
  healAfter(() => opened.s3);

  it('for one original does not stop the uploads and variants of others', async () => {
    const { s3, dealer, load, keyOf } = opened;
    const [one, other] = [await dealer(), await dealer()];
    const [lost, found] = [await one.photo(), await other.photo()];
    s3.faultOf = (method, key) => (method === 'GET' && key === keyOf(lost) ? 'silent' : null);
    const leaving = new AbortController();
    const left = load(`${lost}.avif`, { signal: leaving.signal }).catch(() => {});
    await until(async () => s3.unanswered() === 1, 'the original is not asked for');
    assert.equal((await other.upload()).status, 200);
    assert.equal((await load(`${found}-square.webp`)).status, 200);
    assert.ok(s3.unanswered() > 0);
    // The visitor's leaving reaches the storage.
    leaving.abort();
    await left;
    await until(async () => s3.unanswered() === 0, 'the original is still asked for');
  });

  it('while variants are kept does not stop uploads either', async () => {
    const { s3, dealer, load, keyOf } = opened;
    const [one, other] = [await dealer(), await dealer()];
    const id = await one.photo();
    s3.faultOf = (method, key) =>
      method === 'PUT' && key.startsWith(keyOf(id).replace('original.jpg', '')) ? 'silent' : null;
    const leaving = new AbortController();
    const asked = load(`${id}.webp`, { signal: leaving.signal });
    const left = asked.catch(() => {});
    await until(async () => s3.unanswered() === 1, 'the variant is not kept');
    assert.equal((await other.upload()).status, 200);
    assert.ok(s3.unanswered() > 0);
    leaving.abort();
    await left;
  });

  it('for uploads of four dealers does not refuse the CSV file of a fifth, and lets go of those who leave', async () => {
    const { s3, dealer } = opened;
    const dealers = [await dealer(), await dealer(), await dealer(), await dealer()];
    const hung = new Set<string>();
    s3.faultOf = (method, key) => (method === 'PUT' && hung.add(key) ? 'silent' : null);
    const leaving = new AbortController();
    const asked = dealers.flatMap(({ upload }) => [1, 2, 3, 4].map(() => upload(leaving.signal)));
    const left = Promise.allSettled(asked);
    await until(async () => hung.size === asked.length, 'not all photos are being stored');
    const fifth = await dealer();
    assert.equal((await fifth.uploadCsv()).status, 200);
    s3.faultOf = () => null;
    leaving.abort();
    await left;
    assert.equal((await fifth.upload()).status, 200);
  });
});

describe('a storage of photos that fails', { timeout: LIMIT_MS }, () => {
  let opened: Opened;
  before(async () => {
    opened = await open(SHORT);
  });
  after(() => closeAll(opened));
  healAfter(() => opened.s3);

  for (const fault of ['silent', 'failing'] as const) {
    it(`answers 503 with Retry-After when it is ${fault}, to visitors and in the dashboard`, async () => {
      const { s3, world, dealer, load } = opened;
      const person = await dealer();
      const id = await person.photo();
      s3.faultOf = () => fault;
      const answers = {
        photo: await load(`${id}.jpg`),
        head: await load(`${id}.jpg`, { method: 'HEAD' }),
        variant: await load(`${id}-square.webp`),
        upload: await person.upload(),
        rotation: await person.send(`/items/${person.itemId}/photos/${id}/rotate`, ''),
      };
      for (const [what, answer] of Object.entries(answers)) {
        assert.equal(answer.status, 503, what);
        assert.ok(Number(answer.headers.get('retry-after')) >= 1, what);
      }
      assert.match(await answers.upload.text(), /"code":"unavailable".*storage of photos does not answer/);
      assert.equal(answers.photo.headers.get('cache-control'), 'no-store');
      assert.ok(world.logLines.some((line) => line.includes('PhotoStorageError') && line.includes(id)));
    });
  }

  it('in the middle of an original answers 503, and of a photo ends the answer early', async () => {
    const { s3, dealer, load, keyOf } = opened;
    const id = await (await dealer()).photo();
    for (const fault of ['stalled', 'truncated'] as const) {
      s3.faultOf = (method, key) => (method === 'GET' && key === keyOf(id) ? fault : null);
      assert.equal((await load(`${id}-square.webp`)).status, 503, fault);
      const photo = await load(`${id}.jpg`);
      assert.equal(photo.status, 200);
      await assert.rejects(photo.arrayBuffer(), fault);
    }
  });
});

describe('visitors who do not read their photos', { timeout: LIMIT_MS }, () => {
  /** More than one network may read at once, and than the client of S3 has connections by default. */
  const CLIENTS = 60;
  const READS_PER_NETWORK = 32;

  async function leaveUnread(t: TestContext, { s3, world, dealer, keyOf }: Opened) {
    const id = await (await dealer()).photo();
    s3.objects.set(keyOf(id), Buffer.alloc(LARGE_BYTES));
    const clients = Array.from({ length: CLIENTS }, () => {
      const client = rawSocket(world.port);
      t.after(() => client.close());
      client.socket.pause();
      client.write(`GET /photos/${id}.jpg HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${NETWORK}\r\n\r\n`);
      return client;
    });
    return { clients, id };
  }

  it('leave those of other networks and uploads their share', async (t) => {
    const opened = await open(PATIENT);
    t.after(() => closeAll(opened));
    const { s3, dealer, load } = opened;
    const other = await dealer();
    const found = await other.photo();
    const { clients } = await leaveUnread(t, opened);
    await until(async () => s3.unanswered() === READS_PER_NETWORK, 'the photos are not asked for');
    const photo = await load(`${found}.jpg`, { network: OTHER_NETWORK });
    assert.equal(photo.status, 200);
    await photo.arrayBuffer();
    assert.equal((await load(`${found}-square.webp`, { network: OTHER_NETWORK })).status, 200);
    assert.equal((await other.upload()).status, 200);
    assert.equal(s3.unanswered(), READS_PER_NETWORK);
    for (const client of clients) client.close();
    await until(async () => s3.unanswered() === 0, 'photos are still read for clients that have gone');
  });

  it('are cut', async (t) => {
    const opened = await open(PATIENT, { slowReader: { periodMs: 500, bytes: SLOWEST_FILE_BYTES } });
    t.after(() => closeAll(opened));
    const { id } = await leaveUnread(t, opened);
    await until(async () => opened.s3.unanswered() > 0, 'the photos are not asked for');
    await until(async () => opened.s3.unanswered() === 0, 'slow readers hold their photos');
    const photo = await opened.load(`${id}.jpg`);
    assert.equal((await photo.arrayBuffer()).byteLength, LARGE_BYTES);
  });
});
