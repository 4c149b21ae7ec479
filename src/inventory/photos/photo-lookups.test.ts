import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import sharp from 'sharp';
import { TESTER } from '../../../test/harness/actor.ts';
import { cloneDatabase } from '../../../test/harness/database/database.ts';
import { until } from '../../../test/harness/database/locks.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import type { Queryable } from '../../db/database.ts';
import { createPhotoReader } from './photo-reader.ts';
import { addPhoto } from './photos.ts';
import type { PhotoFiles } from './storage/photo-files.ts';

/** Less than a lookup waits before it is refused, and longer than any stall of a busy machine. */
const AT_ONCE_MS = 60_000;
const LOOKUP_WAIT_MS = 2 * AT_ONCE_MS;
const WAITING_MAX_PER_NETWORK = 250;

describe('lookups of photos', () => {
  let world: World;
  let slowId: string;
  let otherId: string;
  /** While it is there, the lookups of one photo wait in the database. */
  let slowness: PromiseWithResolvers<void> | null = null;
  let slowNow = 0;
  before(async () => {
    const database = await cloneDatabase();
    const query: Queryable['query'] = async (statement, ...rest) => {
      if (slowness !== null && statement.values.includes(slowId)) {
        slowNow += 1;
        await slowness.promise;
        slowNow -= 1;
      }
      return await database.db.query(statement, ...rest);
    };
    const files = { stat: async () => ({ size: 1 }) } as unknown as PhotoFiles;
    world = await startWorld({
      database,
      photoReader: createPhotoReader({ ...database.db, query }, files, () => {}, { lookupWaitMs: LOOKUP_WAIT_MS }),
      trustedProxies: ['127.0.0.1'],
    });
    const dealer = await world.dealer();
    const itemId = await publishNew(world, dealer, watch());
    const bytes = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#00f' } })
      .png()
      .toBuffer();
    const add = () =>
      addPhoto({ ...world.channel, photoFiles: world.photoFiles }, TESTER, dealer.organizationId, itemId, bytes);
    [slowId, otherId] = [await add(), await add()];
  });
  after(() => world.stop());
  afterEach(() => {
    slowness?.resolve();
    slowness = null;
  });

  async function head(photoId: string, address: string, signal?: AbortSignal): Promise<number> {
    const options = { method: 'HEAD', headers: { 'x-forwarded-for': address } };
    const answer = await fetch(`${world.origin}/photos/${photoId}.png`, { ...options, ...(signal ? { signal } : {}) });
    return answer.status;
  }

  for (const [one, same, other] of [
    ['203.0.113.1', '203.0.113.1', '203.0.113.2'],
    ['2001:db8:1:1::1', '2001:db8:1:1::2', '2001:db8:1:2::1'],
  ] as const) {
    it(`of one client, such as ${one}, leave those of others their connection`, async () => {
      slowness = Promise.withResolvers();
      const held = [one, one, same, same].map((address) => head(slowId, address));
      await until(async () => slowNow > 0, 'nothing was looked up');
      assert.equal(await head(otherId, other, AbortSignal.timeout(AT_ONCE_MS)), 200);
      assert.equal(slowNow, 1);
      slowness.resolve();
      assert.deepEqual(await Promise.all(held), [200, 200, 200, 200]);
    });
  }

  it('of one client that are too many are refused, and those of others are not', async () => {
    slowness = Promise.withResolvers();
    const statuses: number[] = [];
    const held = Array.from({ length: WAITING_MAX_PER_NETWORK + 11 }, async () =>
      statuses.push(await head(slowId, '203.0.113.1')),
    );
    await until(async () => statuses.length === 10, 'nobody was refused');
    assert.deepEqual([...new Set(statuses)], [503]);
    assert.equal(await head(otherId, '203.0.113.2', AbortSignal.timeout(AT_ONCE_MS)), 200);
    slowness.resolve();
    await Promise.all(held);
    assert.equal(statuses.filter((status) => status === 200).length, WAITING_MAX_PER_NETWORK + 1);
  });
});
