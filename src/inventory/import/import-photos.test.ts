import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { after, before, beforeEach, describe, it } from 'node:test';
import sharp from 'sharp';
import { TESTER } from '../../../test/harness/actor.ts';
import { until } from '../../../test/harness/database/locks.ts';
import { importText } from '../../../test/harness/jobs/stock-files.ts';
import { jobContext, runJobs } from '../../../test/harness/jobs/stock-jobs.ts';
import { makeZip } from '../../../test/harness/jobs/zip.ts';
import { watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { ZIPS_IN_USE_LIMIT } from '../../contract/dashboard/limits.ts';
import { PHOTO_LIMIT_BYTES, PHOTOS_PER_ITEM_LIMIT } from '../../contract/limits.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../ids/new-id.ts';
import { STOCK_JOB_KINDS_RUN } from '../../service/stock-job-kinds.ts';
import { createSsrfGuard } from '../../webhooks/sending/ssrf-guard.ts';
import { exportStock } from '../csv/stock-export.ts';
import { createItem } from '../items/item-operations.ts';
import { findJob, listJobErrors, undoJob } from '../jobs/stock-job-queue.ts';
import { startStockJobWorker } from '../jobs/stock-job-worker.ts';
import { addStoredPhotos, PHOTO_SOURCES_LIMIT } from '../photos/photo-rows.ts';
import { findImportFile, storeImportFile } from './import-files.ts';
import { ZIP_PIECE_BYTES } from './photo-zip.ts';
import { startImport } from './start-import.ts';
import { storeZip } from './store-zip.ts';

const HEADER = 'stock_number,title,brand,model,condition,photos';

describe('photos of an import', () => {
  let world: World;
  let dealer: Dealer;
  let server: Server;
  let origin: string;
  let picture: Buffer;
  let large: Buffer;
  before(async () => {
    world = await startWorld();
    picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://x');
      if (pathname.startsWith('/photo')) return response.end(picture);
      if (pathname === '/large') return response.end(large);
      if (pathname === '/moved') return response.writeHead(302, { location: '/photo-moved' }).end();
      if (pathname === '/loop') return response.writeHead(302, { location: '/loop' }).end();
      if (pathname === '/inside') return response.writeHead(302, { location: 'ftp://10.0.0.1/x' }).end();
      if (pathname === '/text') return response.end('no picture');
      if (pathname === '/huge') return response.writeHead(200, { 'content-length': PHOTO_LIMIT_BYTES + 1 }).end();
      return response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await world.stop();
  });
  beforeEach(async () => {
    dealer = await world.dealer();
  });

  const photoCounts = async () =>
    (
      await world.db.query<{ count: number }>(sql`
        select photo_count as count from items where organization_id = ${dealer.organizationId} order by stock_number`)
    ).map((row) => row.count);
  const run = (text: string, options: Parameters<typeof importText>[3] = {}) =>
    importText(world, dealer.organizationId, text, options);
  const undo = async (jobId: string) => {
    await undoJob(world.db, TESTER, dealer.organizationId, jobId, { isCostAllowed: true });
    await runJobs(world);
  };

  it('come from addresses, once; what can’t be taken is named, and the undo takes them back', async () => {
    await createItem(world.channel, TESTER, dealer.organizationId, watch({ stockNumber: 'W-1' }));
    const text = `${HEADER}
W-1,,,,,${origin}/photo-1 | ${origin}/moved | ${origin}/photo-2
W-2,New,Omega,Seamaster,Good,${origin}/photo-3
W-3,New,Omega,Seamaster,Good,${origin}/gone | ${origin}/text | ${origin}/huge | ${origin}/loop | ${origin}/inside | x.jpg
`;
    const done = await run(text);
    assert.partialDeepStrictEqual(done, { status: 'done', counts: { created: 2, photos: 4, photos_wrong: 6 } });
    assert.deepEqual(await photoCounts(), [3, 1, 0]);
    const messages = done.errors.map(([, , message]) => message);
    for (const [index, wanted] of [/404/, /JPEG/, /25 MB/, /more than 3/, /https/, /no zip/].entries()) {
      assert.match(messages[index] ?? '', wanted);
    }
    const again = await run(text);
    assert.partialDeepStrictEqual(again.counts, { photos: 0, unchanged: 3 });
    await undo(done.jobId);
    assert.deepEqual(await photoCounts(), [0], 'the item that was there has lost them, the others are gone');
  });

  it('come from addresses also if they are as large as photos are', async () => {
    const [width, height] = [800, 800];
    large = await sharp(randomBytes(width * height * 3), { raw: { width, height, channels: 3 } })
      .png()
      .toBuffer();
    assert.ok(large.length > 1_000_000);
    const done = await run(`${HEADER}\nW-1,New,Omega,Seamaster,Good,${origin}/large\n`);
    assert.partialDeepStrictEqual(done.counts, { photos: 1, photos_wrong: 0 });
  });

  it('never come from an address inside the network of the service', async () => {
    const text = `${HEADER}\nW-1,New,Omega,Seamaster,Good,${origin}/photo-1 | https://127.0.0.1/x | https://169.254.169.254/x\n`;
    const done = await run(text, { context: { guard: createSsrfGuard(false) } });
    assert.partialDeepStrictEqual(done.counts, { photos: 0, photos_wrong: 3 });
  });

  it('that an export names are there already', async () => {
    await run(`${HEADER}\nW-1,New,Omega,Seamaster,Good,${origin}/photo-1\n`);
    const options = { seesCost: true, publicUrl: world.channel.publicUrl, now: null };
    const pieces: string[] = [];
    const filter = { organizationId: dealer.organizationId, kind: 'listing' as const };
    for await (const piece of exportStock(world.db, filter, options)) pieces.push(piece);
    const done = await run(pieces.join(''));
    assert.partialDeepStrictEqual(done.counts, { unchanged: 1, photos: 0, photos_wrong: 0 });
  });

  it('come from a zip by stock number: by name, by numbered name, by folder, or as the column says', async () => {
    const { organizationId } = dealer;
    const zip = makeZip(
      ['W-1.jpg', 'W-1-2.jpg', 'W-1-2_1.jpg', 'photos/w-3/front.jpg', '../../W-3_2.jpg', 'other.jpg', 'notes.txt'].map(
        (name) => ({ name, bytes: picture }),
      ),
    );
    const line = (number: string, photos = '') => `${number},New,Omega,Seamaster,Good,${photos}`;
    const text = [HEADER, line('W-1'), line('W-1-2'), line('W-3'), line('W-4', 'other.jpg'), ''].join('\n');
    const bytes = Buffer.from(text);
    const fileId = await storeImportFile(world.db, organizationId, { name: 'stock.csv', kind: 'listing', bytes });
    const photos = await storeZip(
      world.db,
      organizationId,
      fileId,
      'photos.zip',
      Readable.from([zip.subarray(0, 99), zip.subarray(99)]),
    );
    assert.equal(photos, 6);
    const request = { organizationId, fileId, mapping: HEADER.split(','), isCheck: false, seesCost: true };
    const jobId = await startImport(world.db, TESTER, request);
    await runJobs(world);
    const errors = await listJobErrors(world.db, organizationId, jobId, { after: 0, limit: 10 });
    assert.deepEqual(errors, []);
    assert.partialDeepStrictEqual(await findJob(world.db, organizationId, jobId), {
      status: 'done',
      error: null,
      counts: { created: 4, photos: 6 },
    });
    // W-1: its own; W-1-2: its own and its first; W-3: of its folder and its second; W-4: as its line says.
    assert.deepEqual(await photoCounts(), [1, 2, 2, 1]);
  });

  it('come from a zip whose names have blanks, if a column names them or a stock number begins with a capital umlaut', async () => {
    const { organizationId } = dealer;
    const zip = makeZip(['my photo.jpg', 'other.jpg', 'ÜHR-1/a.jpg'].map((name) => ({ name, bytes: picture })));
    const text = `${HEADER}\nÜHR-1,New,Omega,Seamaster,Good,my photo.jpg | other.jpg\n`;
    const file = { name: 'stock.csv', kind: 'listing', bytes: Buffer.from(text) } as const;
    const fileId = await storeImportFile(world.db, organizationId, file);
    await storeZip(world.db, organizationId, fileId, 'photos.zip', Readable.from([zip]));
    const request = { organizationId, fileId, mapping: HEADER.split(','), isCheck: false, seesCost: true };
    const jobId = await startImport(world.db, TESTER, request);
    await runJobs(world);
    assert.partialDeepStrictEqual(await findJob(world.db, organizationId, jobId), {
      status: 'done',
      counts: { created: 1, photos: 3, photos_wrong: 0 },
    });
  });

  it('come from a zip whose names can’t be stored as they are', async () => {
    const { organizationId } = dealer;
    const zip = makeZip([{ name: 'W-1/a\0b.jpg', bytes: Buffer.from('no picture') }]);
    const bytes = Buffer.from(`${HEADER}\nW-1,New,Omega,Seamaster,Good,\n`);
    const fileId = await storeImportFile(world.db, organizationId, { name: 'stock.csv', kind: 'listing', bytes });
    await storeZip(world.db, organizationId, fileId, `photos\0\ud800${'x'.repeat(500)}.zip`, Readable.from([zip]));
    const { zipName } = await findImportFile(world.db, organizationId, fileId);
    assert.match(zipName ?? '', /^photos\ufffdx{193}$/);
    const request = { organizationId, fileId, mapping: HEADER.split(','), isCheck: false, seesCost: true };
    const jobId = await startImport(world.db, TESTER, request);
    await runJobs(world);
    assert.partialDeepStrictEqual(await findJob(world.db, organizationId, jobId), {
      status: 'done',
      counts: { created: 1, photos: 0, photos_wrong: 1 },
    });
    const [error] = await listJobErrors(world.db, organizationId, jobId, { after: 0, limit: 10 });
    assert.match(error?.message ?? '', /^W-1\/ab\.jpg: /);
  });

  it('in zips take so much of the database at most: more wait until an import has ended', async () => {
    const { organizationId } = dealer;
    const zip = makeZip([{ name: 'W-1.jpg', bytes: picture }]);
    const bytes = Buffer.from('stock_number\nW-1\n');
    const upload = async () => {
      const fileId = await storeImportFile(world.db, organizationId, { name: 'stock.csv', kind: 'listing', bytes });
      await storeZip(world.db, organizationId, fileId, 'x.zip', Readable.from([zip]));
      const request = { organizationId, fileId, mapping: ['stock_number'], isCheck: false, seesCost: true };
      await startImport(world.db, TESTER, request);
    };
    for (let index = 0; index < ZIPS_IN_USE_LIMIT; index++) await upload();
    await assert.rejects(upload(), { code: 'limit_reached', field: 'zip' });
    await runJobs(world);
    await upload();
    await runJobs(world);
  });

  it('in zips that are sent at once keep to the same limit', async () => {
    const { organizationId } = await world.dealer();
    const zip = makeZip([{ name: 'W-1.jpg', bytes: picture }]);
    const bytes = Buffer.from('stock_number\nW-1\n');
    const file = { name: 'stock.csv', kind: 'listing', bytes } as const;
    const fileIds: string[] = [];
    for (let index = 0; index < 8; index++) fileIds.push(await storeImportFile(world.db, organizationId, file));
    const areHere = Promise.withResolvers<void>();
    let begun = 0;
    const count = () => {
      begun += 1;
      if (begun === fileIds.length) areHere.resolve();
    };
    /** All are let in, or refused, before the first one is stored. */
    async function* together() {
      count();
      await areHere.promise;
      yield zip;
    }
    const uploads = fileIds.map((fileId) => storeZip(world.db, organizationId, fileId, 'x.zip', together()));
    for (const upload of uploads) upload.catch(count);
    await Promise.allSettled(uploads);
    const stored = await world.db.query(sql`
      select id from stock_files where organization_id = ${organizationId} and zip_bytes is not null`);
    assert.equal(stored.length, ZIPS_IN_USE_LIMIT);
  });

  describe('in a zip that is still arriving', () => {
    // Of more than two pieces, of which the first ones are stored while the last one is on its way.
    const zip = makeZip([{ name: 'W-1.jpg', bytes: randomBytes(3 * ZIP_PIECE_BYTES) }]);
    const half = 2 * ZIP_PIECE_BYTES;
    const storedBytes = async (fileId: string) => {
      const rows = await world.db.query<{ bytes: Buffer }>(sql`
        select bytes from stock_file_pieces where file_id = ${fileId} order by number`);
      return Buffer.concat(rows.map(({ bytes }) => bytes));
    };
    const storeFile = async (organizationId: string) => {
      const bytes = Buffer.from('stock_number\nW-1\n');
      return await storeImportFile(world.db, organizationId, { name: 'stock.csv', kind: 'listing', bytes });
    };
    /** An upload of which the first half is stored; the rest comes, or the client goes, when it is told. */
    const beginUpload = async (organizationId: string, fileId: string) => {
      const rest = Promise.withResolvers<Buffer>();
      async function* chunks() {
        yield zip.subarray(0, half);
        yield await rest.promise;
      }
      const stored = storeZip(world.db, organizationId, fileId, 'first.zip', chunks());
      stored.catch(() => {});
      await until(async () => (await storedBytes(fileId)).length === half, 'the first half was never stored');
      return { stored, finish: () => rest.resolve(zip.subarray(half)), breakOff: () => rest.reject(new Error('gone')) };
    };

    it('stay while another zip of the same dealer comes', async () => {
      const { organizationId } = await world.dealer();
      const [first, second] = [await storeFile(organizationId), await storeFile(organizationId)];
      const upload = await beginUpload(organizationId, first);
      const small = makeZip([{ name: 'W-1.jpg', bytes: picture }]);
      await storeZip(world.db, organizationId, second, 'second.zip', Readable.from([small]));
      upload.finish();
      assert.equal(await upload.stored, 1);
      assert.ok((await storedBytes(first)).equals(zip), 'pieces of the first zip are missing');
      assert.ok((await storedBytes(second)).equals(small));
    });

    it('never mix with those of a newer zip for the same file, which stays', async () => {
      const { organizationId } = await world.dealer();
      const fileId = await storeFile(organizationId);
      const upload = await beginUpload(organizationId, fileId);
      const small = makeZip([{ name: 'W-1.jpg', bytes: picture }]);
      await storeZip(world.db, organizationId, fileId, 'second.zip', Readable.from([small]));
      upload.finish();
      await assert.rejects(upload.stored, { code: 'changed_meanwhile', field: 'zip' });
      assert.ok((await storedBytes(fileId)).equals(small));
      assert.equal((await findImportFile(world.db, organizationId, fileId)).zipName, 'second.zip');
    });

    it('go when the upload breaks off, and when it ended with its process', async () => {
      const { organizationId } = await world.dealer();
      const [first, second] = [await storeFile(organizationId), await storeFile(organizationId)];
      const upload = await beginUpload(organizationId, first);
      upload.breakOff();
      await assert.rejects(upload.stored, /gone/);
      assert.equal((await storedBytes(first)).length, 0);
      const lost = await beginUpload(organizationId, first);
      await world.db.query(sql`
        update stock_files set zip_upload_at = now() - interval '1 hour' where id = ${first}`);
      await storeZip(
        world.db,
        organizationId,
        second,
        'x.zip',
        Readable.from([makeZip([{ name: 'W-1.jpg', bytes: picture }])]),
      );
      assert.equal((await storedBytes(first)).length, 0);
      lost.finish();
      await assert.rejects(lost.stored, { code: 'changed_meanwhile' });
    });

    it('are not stored for a file whose import waits or runs', async () => {
      const { organizationId } = await world.dealer();
      const fileId = await storeFile(organizationId);
      const request = { organizationId, fileId, mapping: ['stock_number'], isCheck: false, seesCost: true };
      await startImport(world.db, TESTER, request);
      const storing = storeZip(world.db, organizationId, fileId, 'x.zip', Readable.from([zip]));
      await assert.rejects(storing, { code: 'wrong_status', field: 'zip' });
      await runJobs(world);
    });
  });

  it('in something that is no zip are refused at once, and nothing of it stays', async () => {
    const { organizationId } = dealer;
    const bytes = Buffer.from('stock_number\nW-1\n');
    const fileId = await storeImportFile(world.db, organizationId, { name: 'stock.csv', kind: 'listing', bytes });
    const refuses = (file: Buffer, message: RegExp) =>
      assert.rejects(storeZip(world.db, organizationId, fileId, 'x.zip', Readable.from([file])), { message });
    await refuses(Buffer.from('rubbish, and not a zip at all'), /not a zip/);
    await refuses(makeZip([{ name: 'notes.txt', bytes: Buffer.from('x') }]), /no photos/);
    const left = await world.db.query(sql`select number from stock_file_pieces where file_id = ${fileId}`);
    assert.deepEqual(left, []);
  });

  it('that hang delay nobody else: the jobs of other dealers run while two dealers wait for their servers', async (t) => {
    const waiting = Promise.withResolvers<void>();
    let requests = 0;
    const hanging = createServer(() => {
      requests += 1;
      // More than one dealer has at once.
      if (requests > 4) waiting.resolve();
    });
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
    // Each waits until its own time limit, four at once: together they take as long as a line may.
    const photos = Array.from({ length: 30 }, (_, index) => `${address}/${index}.jpg`).join(' | ');
    const start = async ({ organizationId }: Dealer, text: string) => {
      const bytes = Buffer.from(text);
      const fileId = await storeImportFile(world.db, organizationId, { name: 'stock.csv', kind: 'listing', bytes });
      const request = { organizationId, fileId, mapping: HEADER.split(','), isCheck: false, seesCost: true };
      return await startImport(world.db, TESTER, request);
    };
    const slow = [await world.dealer(), await world.dealer()];
    for (const one of slow) await start(one, `${HEADER}\nW-1,New,Omega,Seamaster,Good,${photos}\n`);
    const worker = startStockJobWorker(jobContext(world), STOCK_JOB_KINDS_RUN, () => {});
    t.after(async () => {
      hanging.closeAllConnections();
      hanging.close();
      await worker.stop();
    });
    await waiting.promise;
    const jobId = await start(dealer, `${HEADER}\nW-1,New,Omega,Seamaster,Good,\n`);
    const isDone = async () => (await findJob(world.db, dealer.organizationId, jobId)).status === 'done';
    await until(isDone, 'a job waits for servers of other dealers');
    for (const { organizationId } of slow) {
      const rows = await world.db.query(sql`
        select status, is_remote as "isRemote" from stock_jobs where organization_id = ${organizationId}`);
      assert.deepEqual(rows, [{ status: 'running', isRemote: true }]);
    }
  });

  it('leave no trace of where they came from if the item has too many already', async () => {
    const { organizationId } = dealer;
    const itemId = await createItem(world.channel, TESTER, organizationId, watch());
    const stored = (count: number, from = 0) =>
      Array.from({ length: count }, (_, index) => ({
        id: newId('photo'),
        itemId,
        width: 1,
        height: 1,
        format: 'jpeg' as const,
        source: `${from + index}`,
      }));
    const add = (photos: ReturnType<typeof stored>) =>
      world.db.transaction((tx) => addStoredPhotos(tx, world.channel, organizationId, photos));
    const countSources = async () => {
      const rows = await world.db.query(sql`select from photo_sources where item_id = ${itemId}`);
      return rows.length;
    };
    const { added } = await add(stored(PHOTOS_PER_ITEM_LIMIT + 20));
    assert.equal(added.length, PHOTOS_PER_ITEM_LIMIT);
    assert.equal(await countSources(), PHOTOS_PER_ITEM_LIMIT);
    // Photos that were removed by hand stay known, but not without end.
    for (let from = 1_000; (await countSources()) < PHOTO_SOURCES_LIMIT; from += PHOTOS_PER_ITEM_LIMIT) {
      await world.db.query(sql`delete from photos where item_id = ${itemId}`);
      await add(stored(PHOTOS_PER_ITEM_LIMIT, from));
    }
    await world.db.query(sql`delete from photos where item_id = ${itemId}`);
    await add(stored(PHOTOS_PER_ITEM_LIMIT, 9_000));
    assert.equal(await countSources(), PHOTO_SOURCES_LIMIT);
  });

  it('store no more files than an item can have photos', async () => {
    const names = Array.from({ length: PHOTOS_PER_ITEM_LIMIT + 20 }, (_, index) => `${origin}/photo-${index}`);
    let written = 0;
    const photoFiles = {
      ...world.photoFiles,
      write: async (...file: Parameters<typeof world.photoFiles.write>) => {
        written += 1;
        await world.photoFiles.write(...file);
      },
    };
    const text = `${HEADER}\nW-1,New,Omega,Seamaster,Good,${names.join(' | ')}\n`;
    const done = await run(text, { context: { photoFiles } });
    assert.deepEqual(await photoCounts(), [PHOTOS_PER_ITEM_LIMIT]);
    assert.equal(written, PHOTOS_PER_ITEM_LIMIT);
    assert.match(done.errors.at(-1)?.[2] ?? '', /at most 50 photos.*20/);
  });
});
