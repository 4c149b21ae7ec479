import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { TESTER } from '../../../test/harness/actor.ts';
import { loadPhoto, picture } from '../../../test/harness/photos.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { PHOTO_LIMIT_BYTES } from '../../contract/limits.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../ids/new-id.ts';
import { deleteItem } from '../../sales/delete-item.ts';
import { sweepPhotos } from './photo-sweep.ts';
import {
  addPhoto,
  orderPhotos,
  PHOTOS_MAX,
  type PhotoContext,
  removePhoto,
  restorePhoto,
  rotatePhoto,
} from './photos.ts';

type Photo = { id: string; position: number; url: string; thumbnail_url: string; width: number; height: number };

const DAY_MS = 24 * 60 * 60 * 1000;

describe('photos', () => {
  let world: World;
  let dealer: Dealer;
  let context: PhotoContext;

  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    context = { ...world.channel, photoFiles: world.photoFiles };
  });
  after(() => world.stop());

  const add = (itemId: string, bytes: Buffer) => addPhoto(context, TESTER, dealer.organizationId, itemId, bytes);
  const photosOf = async (itemId: string): Promise<Photo[]> =>
    (await dealer.api.get(`/v1/listings/${itemId}`)).body.photos;
  const eventsAbout = async (itemId: string): Promise<string[]> => {
    const { body } = await dealer.api.get('/v1/events?limit=250');
    return body.data
      .filter((event: { data: { object: { id: string } } }) => event.data.object.id === itemId)
      .map((event: { type: string }) => event.type)
      .reverse();
  };

  it('are added in each format, shown in the document, announced by an event, and served as they are named', async () => {
    const id = await publishNew(world, dealer, watch());
    for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) await add(id, await picture(format, 64, 40));
    const photos = await photosOf(id);
    assert.deepEqual(
      photos.map(({ position, width, height }) => [position, width, height]),
      [1, 2, 3, 4].map((position) => [position, 64, 40]),
    );
    assert.deepEqual(await eventsAbout(id), ['listing.published', ...photos.map(() => 'listing.updated')]);
    for (const photo of photos) {
      for (const [url, width, height] of [
        [photo.url, 64, 40],
        [photo.thumbnail_url, 480, 480],
      ] as const) {
        const { status, bytes, headers } = await loadPhoto(world, url);
        assert.equal(status, 200, url);
        assert.equal(headers.get('content-type'), 'image/jpeg');
        assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
        assert.equal(headers.get('x-content-type-options'), 'nosniff');
        assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
        assert.equal(Number(headers.get('content-length')), bytes.length);
        const shown = await sharp(bytes).metadata();
        assert.deepEqual([shown.format, shown.width, shown.height], ['jpeg', width, height]);
      }
    }
  });

  it('are counted with their item, which then does not miss them any more', async () => {
    const id = await publishNew(world, dealer, watch());
    const counted = async () =>
      await world.db.query(
        sql`select photo_count as count, 'photos' = any(missing) as "isMissing" from items where id = ${id}`,
      );
    assert.deepEqual(await counted(), [{ count: 0, isMissing: true }]);
    const photoId = await add(id, await picture('jpeg', 64, 40));
    assert.deepEqual(await counted(), [{ count: 1, isMissing: false }]);
    await removePhoto(context, TESTER, dealer.organizationId, id, photoId);
    assert.deepEqual(await counted(), [{ count: 0, isMissing: true }]);
  });

  it('are turned upright and lose their metadata, the place where they were taken included', async () => {
    const id = await publishNew(world, dealer, watch());
    // Orientation 6: the camera was held upright, the file lies on its side. Left half red, right half blue.
    const halves = await sharp({ create: { width: 80, height: 40, channels: 3, background: '#0000ff' } })
      .composite([
        { input: { create: { width: 40, height: 40, channels: 3, background: '#ff0000' } }, left: 0, top: 0 },
      ])
      .jpeg({ quality: 100 })
      .withMetadata({ orientation: 6 })
      .withExifMerge({
        IFD0: { Make: 'Camera' },
        IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '46/1 12/1 0/1' },
      })
      .toBuffer();
    assert.ok((await sharp(halves).metadata()).exif?.includes('Camera'));
    const photoId = await add(id, halves);
    const [photo] = await photosOf(id);
    assert.deepEqual([photo?.width, photo?.height], [40, 80]);
    const stored = await world.photoFiles.read(photoId, 'original.jpg');
    assert.ok(stored);
    const metadata = await sharp(stored).metadata();
    assert.deepEqual(
      [metadata.width, metadata.height, metadata.exif, metadata.orientation],
      [40, 80, undefined, undefined],
    );
    // What lay on the left is on top now.
    const { data } = await sharp(stored)
      .extract({ left: 20, top: 5, width: 1, height: 1 })
      .raw()
      .toBuffer({ resolveWithObject: true });
    assert.ok((data[0] ?? 0) > 200 && (data[2] ?? 255) < 60, `red is expected on top: ${[...data]}`);
  });

  it('are scaled down to 24 megapixels if they have more, in their proportions', async () => {
    const id = await publishNew(world, dealer, watch());
    await add(id, await picture('jpeg', 6_500, 4_000));
    const [photo] = await world.db.query<{ width: number; height: number }>(sql`
      select width, height from photos where item_id = ${id}`);
    const { width, height } = photo ?? assert.fail('no photo');
    assert.ok(width * height <= 24_000_000 && width * height > 23_900_000, `${width} × ${height}`);
    assert.ok(Math.abs(width / height - 6_500 / 4_000) < 0.001, `${width} × ${height}`);
  });

  it('are refused if they are no picture, damaged, too heavy, too large, or too many', async () => {
    const id = await publishNew(world, dealer, watch());
    const jpeg = await picture('jpeg', 200, 200);
    const bomb = emptyPng(12_000, 9_000);
    const strip = emptyPng(16_384, 1);
    const refused: [Buffer, RegExp][] = [
      [Buffer.alloc(0), /empty/],
      [Buffer.from('GIF89a, or so it says'), /not a photo in one of the formats/],
      [
        Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
        /not a photo in one of the formats/,
      ],
      [Buffer.concat([Buffer.alloc(4), Buffer.from('ftypheic'), Buffer.alloc(40)]), /HEIC/],
      [jpeg.subarray(0, 400), /damaged/],
      [Buffer.concat([jpeg.subarray(0, 4), Buffer.from('nonsense')]), /damaged/],
      [Buffer.concat([jpeg, Buffer.alloc(PHOTO_LIMIT_BYTES)]), /25 MB/],
      [bomb, /100 megapixels/],
      [strip, /16383 pixels/],
    ];
    for (const [bytes, reason] of refused) {
      await assert.rejects(add(id, bytes), {
        name: 'DomainError',
        code: 'invalid_input',
        field: 'photo',
        message: reason,
      });
    }
    assert.deepEqual(await photosOf(id), []);
    await world.db.query(sql`
      insert into photos (id, item_id, organization_id, position, width, height, format)
      select 'pho_' || lpad(n::text, 26, '0'), ${id}, ${dealer.organizationId}, n, 1, 1, 'jpeg'
      from generate_series(1, ${PHOTOS_MAX}) as n`);
    await assert.rejects(add(id, jpeg), { code: 'invalid_input', message: /at most 50 photos/ });
    assert.deepEqual(await eventsAbout(id), ['listing.published']);
  });

  it('keep a single pixel', async () => {
    const id = await publishNew(world, dealer, watch());
    await add(id, await picture('png', 1, 1));
    const [photo] = await photosOf(id);
    assert.deepEqual([photo?.width, photo?.height], [1, 1]);
    assert.equal((await sharp((await loadPhoto(world, photo?.thumbnail_url ?? '')).bytes).metadata()).width, 480);
  });

  it('stand in positions from 1 on, in the order that the dealer gives, without gaps', async () => {
    const id = await publishNew(world, dealer, watch());
    const [first = '', second = '', third = ''] = [
      await add(id, await picture('jpeg', 10, 10)),
      await add(id, await picture('jpeg', 10, 10)),
      await add(id, await picture('jpeg', 10, 10)),
    ];
    const order = async () => (await photosOf(id)).map((photo) => [photo.position, photo.id]);
    await orderPhotos(context, TESTER, dealer.organizationId, id, [third, first, second]);
    assert.deepEqual(await order(), [
      [1, third],
      [2, first],
      [3, second],
    ]);
    await removePhoto(context, TESTER, dealer.organizationId, id, first);
    assert.deepEqual(await order(), [
      [1, third],
      [2, second],
    ]);
    for (const wrong of [[third], [third, third], [third, second, first], [third, newId('photo')]]) {
      await assert.rejects(orderPhotos(context, TESTER, dealer.organizationId, id, wrong), { code: 'invalid_input' });
    }
    const announced = await eventsAbout(id);
    await orderPhotos(context, TESTER, dealer.organizationId, id, [third, second]);
    assert.deepEqual(await eventsAbout(id), announced, 'the same order is no change');
  });

  it('take the next position when several are added at once', async () => {
    const id = await publishNew(world, dealer, watch());
    const bytes = await picture('jpeg', 20, 20);
    await Promise.all(Array.from({ length: 5 }, () => add(id, bytes)));
    assert.deepEqual(
      (await photosOf(id)).map((photo) => photo.position),
      [1, 2, 3, 4, 5],
    );
  });

  it('of another dealer’s item are as if they were not there, and leave no file', async () => {
    const other = await world.dealer();
    const id = await publishNew(world, dealer, watch());
    const photoId = await add(id, await picture('jpeg', 10, 10));
    const before = await storedIds(world);
    const missing = { name: 'DomainError', code: 'not_found' };
    await assert.rejects(addPhoto(context, TESTER, other.organizationId, id, await picture('jpeg', 10, 10)), missing);
    await assert.rejects(removePhoto(context, TESTER, other.organizationId, id, photoId), missing);
    await assert.rejects(orderPhotos(context, TESTER, other.organizationId, id, [photoId]), missing);
    const ownItem = await publishNew(world, other, watch());
    await assert.rejects(removePhoto(context, TESTER, other.organizationId, ownItem, photoId), missing);
    assert.deepEqual(await storedIds(world), before);
    assert.equal((await photosOf(id)).length, 1);
  });

  it('that are removed, or whose item is deleted, read 404 and lose their files', async () => {
    const id = await publishNew(world, dealer, watch());
    await add(id, await picture('jpeg', 10, 10));
    await add(id, await picture('jpeg', 10, 10));
    const [first, second] = await photosOf(id);
    assert.ok(first && second);
    for (const { url, thumbnail_url } of [first, second]) {
      assert.equal((await loadPhoto(world, url)).status, 200);
      assert.equal((await loadPhoto(world, thumbnail_url)).status, 200);
    }
    await removePhoto(context, TESTER, dealer.organizationId, id, first.id);
    await deleteItem(context, TESTER, dealer.organizationId, id);
    for (const { url, thumbnail_url } of [first, second]) {
      assert.equal((await loadPhoto(world, url)).status, 404);
      assert.equal((await loadPhoto(world, thumbnail_url)).status, 404);
    }
    await soon(async () => {
      const left = await storedIds(world);
      return !left.includes(first.id) && !left.includes(second.id);
    });
  });

  it('that were removed can be put back where they were for 30 days, then their files are swept', async () => {
    const id = await publishNew(world, dealer, watch());
    const bytes = await picture('jpeg', 10, 10);
    const [first, second] = [await add(id, bytes), await add(id, bytes)];
    await removePhoto(context, TESTER, dealer.organizationId, id, first);
    assert.equal((await loadPhoto(world, `${world.channel.publicUrl}/photos/${first}.jpg`)).status, 404);
    await restorePhoto(context, TESTER, dealer.organizationId, id, first);
    assert.deepEqual(
      (await photosOf(id)).map((photo) => photo.id),
      [first, second],
    );
    const missing = { code: 'not_found' };
    await assert.rejects(restorePhoto(context, TESTER, dealer.organizationId, id, first), missing);
    await removePhoto(context, TESTER, dealer.organizationId, id, second);
    const days = (count: number) => Date.now() + count * 86_400_000;
    await sweepPhotos(world.db, world.photoFiles, days(29));
    assert.ok((await storedIds(world)).includes(second));
    await sweepPhotos(world.db, world.photoFiles, days(31));
    assert.ok(!(await storedIds(world)).includes(second));
    await assert.rejects(restorePhoto(context, TESTER, dealer.organizationId, id, second), missing);
  });

  it('are turned by a quarter under another id, in the same position', async () => {
    const id = await publishNew(world, dealer, watch());
    const first = await add(id, await picture('jpeg', 30, 20));
    await add(id, await picture('jpeg', 10, 10));
    const turned = await rotatePhoto(context, TESTER, dealer.organizationId, id, first);
    const [photo] = await photosOf(id);
    assert.notEqual(turned, first);
    assert.deepEqual([photo?.id, photo?.width, photo?.height], [turned, 20, 30]);
    await assert.rejects(rotatePhoto(context, TESTER, dealer.organizationId, id, first), { code: 'not_found' });
  });

  it('leave no file when they are turned twice at once and one is refused', async () => {
    const id = await publishNew(world, dealer, watch());
    const first = await add(id, await picture('jpeg', 30, 20));
    const before = new Set(await storedIds(world));
    const turn = () => rotatePhoto(context, TESTER, dealer.organizationId, id, first);
    const turned = await Promise.allSettled([turn(), turn(), turn()]);
    const done = turned.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    assert.equal(done.length, 1);
    assert.deepEqual(
      (await storedIds(world)).filter((stored) => !before.has(stored)),
      done,
    );
  });

  it('that no row names are swept when they are a day old', async () => {
    const id = await publishNew(world, dealer, watch());
    const kept = await add(id, await picture('jpeg', 10, 10));
    const orphan = newId('photo');
    await world.photoFiles.write(orphan, 'original.jpg', await picture('jpeg', 10, 10));
    assert.equal(await sweepPhotos(world.db, world.photoFiles, Date.now() + DAY_MS / 2), 0);
    assert.equal(await sweepPhotos(world.db, world.photoFiles, Date.now() + DAY_MS + 1_000), 1);
    const left = await storedIds(world);
    assert.ok(left.includes(kept) && !left.includes(orphan));
  });
});

/** The head of a PNG that claims to be so large; making a real one would take seconds. */
function emptyPng(width: number, height: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  const chunk = (type: string, data: Buffer) => {
    const content = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(content));
    return Buffer.concat([length, content, sum]);
  };
  const header = chunk('IHDR', Buffer.concat([size, Buffer.from([8, 2, 0, 0, 0])]));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    header,
    chunk('IDAT', Buffer.alloc(0)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

async function storedIds(world: World): Promise<string[]> {
  const pages = await Array.fromAsync(world.photoFiles.list());
  return pages.flat().sort();
}

async function soon(isTrue: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail('it did not become true in time');
}
