import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sharp, { type Metadata } from 'sharp';
import { TESTER } from '../../../test/harness/actor.ts';
import { exchange } from '../../../test/harness/http/api-client.ts';
import { loadPhoto, picture } from '../../../test/harness/photos.ts';
import { part, publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, PUBLIC_URL, startWorld, type World } from '../../../test/harness/world.ts';
import { runJobs } from '../../channel/jobs/run-jobs.ts';
import { changePresentation } from '../../dealers/integrations/integration-settings.ts';
import { newId } from '../../ids/new-id.ts';
import { SQUARE_SIDES_PX } from './photo-variants.ts';
import { addPhoto, type PhotoContext } from './photos.ts';

describe('photos that are loaded', () => {
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

  it('come in the image format of the channel; "original" is the format that was uploaded', async () => {
    const other = await world.dealer();
    const id = await publishNew(world, other, part());
    for (const format of ['jpeg', 'png'] as const) {
      await addPhoto(context, TESTER, other.organizationId, id, await picture(format, 30, 30));
    }
    const extensions: Record<string, string[]> = {
      original: ['jpg', 'png'],
      webp: ['webp', 'webp'],
      avif: ['avif', 'avif'],
    };
    for (const [imageFormat, expected] of Object.entries(extensions)) {
      await changePresentation(world.channel, TESTER, other.organizationId, other.integrationId, {
        imageFormat: imageFormat as 'original',
      });
      await runJobs(world.channel);
      const photos: { url: string; thumbnail_url: string }[] = (await other.api.get(`/v1/parts/${id}`)).body.photos;
      assert.deepEqual(
        photos.map((photo) => photo.url.split('.').at(-1)),
        expected,
      );
      for (const { url, thumbnail_url } of photos) {
        for (const address of [url, thumbnail_url]) {
          const { bytes, headers } = await loadPhoto(world, address);
          const format = formatOf(await sharp(bytes).metadata());
          assert.equal(headers.get('content-type'), `image/${format}`);
          assert.equal(format, address.endsWith('jpg') ? 'jpeg' : address.split('.').at(-1));
        }
      }
    }
  });

  it('have square thumbnails: one for websites and cards, a small one for rows', async () => {
    const id = await publishNew(world, dealer, watch());
    const photoId = await add(id, await picture('jpeg', 900, 600));
    for (const [square, side] of Object.entries(SQUARE_SIDES_PX)) {
      const { status, bytes } = await loadPhoto(world, `${PUBLIC_URL}/photos/${photoId}-${square}.webp`);
      assert.equal(status, 200, square);
      assert.partialDeepStrictEqual(await sharp(bytes).metadata(), { format: 'webp', width: side, height: side });
    }
  });

  it('are made once for all who ask at the same time, and kept', async () => {
    const id = await publishNew(world, dealer, watch());
    const photoId = await add(id, await picture('jpeg', 300, 200));
    let writes = 0;
    const { write } = world.photoFiles;
    world.photoFiles.write = async (...args) => {
      writes += 1;
      await write(...args);
    };
    try {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => loadPhoto(world, `${PUBLIC_URL}/photos/${photoId}-square.webp`)),
      );
      assert.equal(writes, 1);
      assert.ok(
        answers.every(({ status, bytes }) => status === 200 && bytes.equals(answers[0]?.bytes ?? Buffer.alloc(0))),
      );
      await loadPhoto(world, `${PUBLIC_URL}/photos/${photoId}-square.webp`);
      assert.equal(writes, 1);
    } finally {
      world.photoFiles.write = write;
    }
  });

  it('answer 304 to who has them, HEAD without a body, and 404 to what names none', async () => {
    const id = await publishNew(world, dealer, watch());
    const photoId = await add(id, await picture('jpeg', 30, 20));
    const url = `${PUBLIC_URL}/photos/${photoId}.jpg`;
    const { headers, bytes } = await loadPhoto(world, url);
    const etag = headers.get('etag') ?? '';
    // A tag is compared weakly: caches may have made a strong one of it.
    for (const known of [etag, `"other", ${etag}`, etag.replace('W/', ''), `"other",${etag.replace('W/', '')}`, '*']) {
      const again = await loadPhoto(world, url, { headers: { 'if-none-match': known } });
      assert.deepEqual([again.status, again.bytes.length], [304, 0], known);
    }
    assert.equal((await loadPhoto(world, url, { headers: { 'if-none-match': '"other"' } })).status, 200);
    const head = await loadPhoto(world, url, { method: 'HEAD' });
    assert.deepEqual(
      [head.status, head.bytes.length, Number(head.headers.get('content-length'))],
      [200, 0, bytes.length],
    );
    assert.equal((await loadPhoto(world, url, { method: 'POST' })).status, 405);
    for (const path of [
      `/photos/${newId('photo')}.jpg`,
      `/photos/${photoId}`,
      `/photos/${photoId}.gif`,
      `/photos/${photoId}.jpeg`,
      `/photos/${photoId}.png`,
      `/photos/${photoId}-round.jpg`,
      `/photos/${photoId}.jpg/more`,
      `/photos/${photoId.toUpperCase()}.jpg`,
      `/photos/${photoId.replace('pho_', 'lst_')}.jpg`,
      '/photos/',
      '/photos/original.jpg',
      '/photos/..%2f..%2fetc%2fpasswd',
      '/photos/../../etc/passwd',
      '/photos/%2e%2e%2f%2e%2e%2fsecret-keys',
      `/photos/${photoId}%00.jpg`,
    ]) {
      const answer = await exchange(`${world.origin}${path}`, {});
      assert.equal(answer.status, 404, path);
    }
    const missing = await loadPhoto(world, `${PUBLIC_URL}/photos/${newId('photo')}.jpg`);
    assert.match(missing.headers.get('content-type') ?? '', /^text\/plain/);
    assert.equal(missing.headers.get('cache-control'), 'no-store');
    assert.equal(missing.headers.get('etag'), null);
  });
});

/** AVIF is HEIF with another codec inside. */
function formatOf({ format, compression }: Metadata): string {
  return format === 'heif' && compression === 'av1' ? 'avif' : String(format);
}
