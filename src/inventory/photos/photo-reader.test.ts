import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import sharp from 'sharp';
import { TESTER } from '../../../test/harness/actor.ts';
import { cloneDatabase } from '../../../test/harness/database/database.ts';
import { until } from '../../../test/harness/database/locks.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { createPhotoReader, parsePhotoName, type Visitor } from './photo-reader.ts';
import { addPhoto } from './photos.ts';
import type { PhotoFiles } from './storage/photo-files.ts';

/** How many originals of variants of one network are in memory at once. */
const SLOTS_MAX = 2;
const PHOTOS = 12;
/** Longer than any stall of a busy machine. */
const WAIT_MS = 120_000;

describe('variants of photos that are not made yet', () => {
  let world: World;
  let photoIds: string[] = [];
  /** What the service does to the storage, and whether reading waits. */
  const seen = { reads: 0, readingNow: 0, readingMost: 0, opens: 0 };
  let reading: PromiseWithResolvers<void> | null = null;
  let real: PhotoFiles;

  const files: PhotoFiles = {
    write: (...args) => real.write(...args),
    async read(...args) {
      seen.reads += 1;
      seen.readingNow += 1;
      seen.readingMost = Math.max(seen.readingMost, seen.readingNow);
      try {
        await reading?.promise;
        return await real.read(...args);
      } finally {
        seen.readingNow -= 1;
      }
    },
    async open(...args) {
      const opened = await real.open(...args);
      if (opened !== null) seen.opens += 1;
      return opened;
    },
    stat: (...args) => real.stat(...args),
    remove: (...args) => real.remove(...args),
    list: () => real.list(),
    check: () => real.check(),
    readMarker: () => real.readMarker(),
    writeMarker: (...args) => real.writeMarker(...args),
  };

  before(async () => {
    const database = await cloneDatabase();
    world = await startWorld({
      database,
      photoReader: createPhotoReader(database.db, files, () => {}, { lookupWaitMs: WAIT_MS, memoryWaitMs: WAIT_MS }),
    });
    real = world.photoFiles;
  });
  after(() => world.stop());
  beforeEach(async () => {
    const dealer = await world.dealer();
    const itemId = await publishNew(world, dealer, watch());
    const bytes = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#00f' } })
      .png()
      .toBuffer();
    const context = { ...world.channel, photoFiles: real };
    photoIds = [];
    for (let index = 0; index < PHOTOS; index++) {
      photoIds.push(await addPhoto(context, TESTER, dealer.organizationId, itemId, bytes));
    }
    Object.assign(seen, { reads: 0, readingNow: 0, readingMost: 0, opens: 0 });
    reading = null;
  });

  const urlOf = (photoId: string | undefined, variant: string) => `${world.origin}/photos/${photoId}${variant}`;

  /** A request that can be cut off. */
  function get(url: string): { status: Promise<number | null>; leave(): void } {
    const outgoing = httpRequest(url);
    const status = new Promise<number | null>((resolve) => {
      outgoing.on('response', (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? null));
        response.on('error', () => resolve(null));
      });
      outgoing.on('error', () => resolve(null));
    });
    outgoing.end();
    return { status, leave: () => outgoing.destroy() };
  }

  it('cost nothing for HEAD: no file is read or opened, and the length is left out until it is known', async () => {
    const heads = photoIds.flatMap((id) => ['.jpg', '.webp', '-square.jpg'].map((variant) => urlOf(id, variant)));
    const answers = await Promise.all(heads.map((url) => fetch(url, { method: 'HEAD' })));
    for (const answer of answers) {
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-length'), null);
      assert.match(answer.headers.get('content-type') ?? '', /^image\/(jpeg|webp)$/);
    }
    assert.deepEqual(seen, { reads: 0, readingNow: 0, readingMost: 0, opens: 0 });
    const [url = ''] = heads;
    const bytes = await (await fetch(url)).arrayBuffer();
    const head = await fetch(url, { method: 'HEAD' });
    assert.equal(Number(head.headers.get('content-length')), bytes.byteLength);
    const missing = await fetch(urlOf(photoIds[0]?.replace(/.{4}$/, '0000'), '.jpg'), { method: 'HEAD' });
    assert.equal(missing.status, 404);
  });

  it('are read only when a slot is free, and the same one once for all who ask', async () => {
    reading = Promise.withResolvers();
    const asked = photoIds.flatMap((id) => [1, 2, 3].map(() => get(urlOf(id, '.webp'))));
    await until(async () => seen.readingNow === SLOTS_MAX, 'too few were read');
    reading.resolve();
    for (const { status } of asked) assert.equal(await status, 200);
    assert.ok(seen.readingMost <= SLOTS_MAX, `${seen.readingMost} originals were in memory at once`);
    assert.equal(seen.reads, photoIds.length);
  });

  it('are tried once if their original can’t be converted, and are not there then; the original is', async () => {
    const [id = ''] = photoIds;
    await real.write(id, 'original.png', Buffer.from('no picture'));
    for (let time = 1; time <= 3; time++) {
      assert.equal(await get(urlOf(id, '.webp')).status, 404);
      assert.equal(seen.reads, 1);
    }
    assert.equal(await get(urlOf(id, '.png')).status, 200);
    assert.equal(await get(urlOf(photoIds[1], '.webp')).status, 200);
  });

  it('are not made for clients that have gone while they waited', async () => {
    reading = Promise.withResolvers();
    const [first, ...others] = photoIds.map((id) => get(urlOf(id, '.avif')));
    await until(async () => seen.readingNow === SLOTS_MAX, 'too few were read');
    const under = seen.readingNow;
    const wanted = get(urlOf(photoIds.at(-1), '-square.jpg'));
    for (const { leave } of others) leave();
    await Promise.all(others.map(({ status }) => status));
    // The service hears of it with the end of the connection.
    await until(async () => (await openRequests()) <= 2, 'the requests that were cut off are still under way');
    reading.resolve();
    assert.equal(await first?.status, 200);
    assert.equal(await wanted.status, 200);
    assert.ok(seen.reads <= under + 2, `${seen.reads} originals were read, ${under} before the clients left`);
  });

  it('that a visitor of a busy network has asked for first are made for one of another network at once', async () => {
    const reader = createPhotoReader(world.db, files, () => {}, { memoryWaitMs: WAIT_MS });
    const open = async (index: number, network: string, signal = new AbortController().signal) => {
      const name = parsePhotoName(`${photoIds[index]}.webp`);
      const found = name && (await reader.find(name, { network, signal }));
      assert.ok(found);
      const opened = await reader.open(found, { network, signal });
      opened?.body.destroy();
      opened?.release();
    };
    const slow = Promise.withResolvers<void>();
    reading = slow;
    const busy = Array.from({ length: 3 }, (_, index) => open(index, '192.0.2.1'));
    await until(async () => seen.readingNow === SLOTS_MAX, 'too few were read');
    reading = null;
    await open(2, '198.51.100.1');
    assert.equal(seen.readingNow, SLOTS_MAX);
    slow.resolve();
    await Promise.all(busy);
    // The third was there when its turn came.
    assert.equal(seen.reads, 3);
  });

  it('of a network whose visitors leave are not read one after the other, and others are', async () => {
    const reader = createPhotoReader(world.db, files, () => {}, { restMs: WAIT_MS });
    const open = async (index: number, visitor: Visitor) => {
      const name = parsePhotoName(`${photoIds[index]}.webp`);
      const found = name && (await reader.find(name, visitor));
      assert.ok(found);
      const opened = await reader.open(found, visitor);
      opened?.body.destroy();
      opened?.release();
    };
    reading = Promise.withResolvers();
    const leaving = new AbortController();
    const hasty = { network: '192.0.2.1', signal: leaving.signal };
    const left = [0, 1].map((index) => assert.rejects(open(index, hasty)));
    await until(async () => seen.readingNow === SLOTS_MAX, 'too few were read');
    leaving.abort();
    await Promise.all(left);
    reading.resolve();
    await until(async () => seen.readingNow === 0, 'they are still being read');
    const staying = new AbortController();
    const next = assert.rejects(open(2, { network: '192.0.2.1', signal: staying.signal }));
    await open(3, { network: '198.51.100.1' });
    assert.equal(seen.reads, SLOTS_MAX + 1);
    staying.abort();
    await next;
  });

  it('are refused with 503 and Retry-After when a hundred wait, and served again afterwards', async () => {
    reading = Promise.withResolvers();
    const variants = ['.jpg', '.webp', '.avif', '-square.jpg', '-square.webp', '-square.avif', '-square.png'];
    const urls = photoIds.flatMap((id) => variants.map((variant) => urlOf(id, variant)));
    const more = await addMore(4);
    urls.push(...more.flatMap((id) => variants.map((variant) => urlOf(id, variant))));
    assert.ok(urls.length >= 100 + SLOTS_MAX + 1);
    const statuses: (number | null)[] = [];
    const asked = urls.map(async (url) => {
      const answer = await fetch(url);
      statuses.push(answer.status);
      if (answer.status === 503) assert.ok(Number(answer.headers.get('retry-after')) >= 1);
      await answer.arrayBuffer();
    });
    await until(async () => statuses.length >= urls.length - 100 - SLOTS_MAX, 'nobody was refused');
    assert.deepEqual([...new Set(statuses)], [503]);
    reading.resolve();
    await Promise.all(asked);
    assert.ok(statuses.filter((status) => status === 200).length >= 100);
    assert.equal(await get(urls.at(-1) ?? '').status, 200);
  });

  async function addMore(count: number): Promise<string[]> {
    const dealer = await world.dealer();
    const itemId = await publishNew(world, dealer, watch());
    const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#0f0' } })
      .png()
      .toBuffer();
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      ids.push(await addPhoto({ ...world.channel, photoFiles: real }, TESTER, dealer.organizationId, itemId, bytes));
    }
    return ids;
  }

  function openRequests(): Promise<number> {
    return new Promise((resolve, reject) =>
      world.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }
});
