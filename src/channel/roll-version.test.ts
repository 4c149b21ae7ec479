import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../test/harness/actor.ts';
import { observe, readDocuments } from '../../test/harness/observe.ts';
import { part, publishNew, watch } from '../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../test/harness/world.ts';
import { CURRENT_VERSION, VERSIONS } from '../contract/versions.ts';
import { sql } from '../db/sql.ts';
import { setOrganization } from '../dealers/integrations/attach-integration.ts';
import { changePresentation } from '../dealers/integrations/integration-settings.ts';
import { setRateLimit } from '../dealers/integrations/integrations.ts';
import { createItem, editItem } from '../inventory/items/item-operations.ts';
import { startPromotion } from '../inventory/promotions.ts';
import { setPublished } from '../inventory/publications.ts';
import { deleteItem } from '../sales/delete-item.ts';
import type { ChannelContext } from './context.ts';
import { enqueueJob } from './jobs/channel-job-queue.ts';
import { RENDERED_LIMITS, runJobs } from './jobs/run-jobs.ts';
import { rollVersion } from './roll-version.ts';

/** Invented: one adds a field, the other shows the stock number no more. */
const NEXT = '2027-01-01';
const OTHER = '2028-01-01';

describe('rolling an integration to another version', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld({
      versions: [
        ...VERSIONS,
        { date: NEXT, present: (document) => ({ ...document, shape: 'next' }) },
        { date: OTHER, present: (document) => ({ ...document, title: 'hidden' }) },
      ],
    });
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
    await setRateLimit(world.db, TESTER, dealer.integrationId, 100_000);
  });

  const roll = (version = NEXT) => rollVersion(world.channel, TESTER, dealer.integrationId, version);
  const run = (context: ChannelContext = world.channel, signal?: AbortSignal) => runJobs(context, signal, 0);
  const edit = (id: string, changes: Parameters<typeof editItem>[4]) =>
    editItem(world.channel, TESTER, dealer.organizationId, id, changes);
  const storedVersions = async () =>
    (
      await world.db.query<{ api_version: string; count: number }>(sql`
        select api_version, count(*) from channel_documents where integration_id = ${dealer.integrationId}
        group by api_version order by api_version`)
    ).map((row) => [row.api_version, row.count]);

  async function fillStock(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      ids.push(await createItem(world.channel, TESTER, dealer.organizationId, index % 3 === 0 ? part() : watch()));
    }
    await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, ids, true);
    return ids;
  }
  /** Runs the roll's first batch of a hundred and stops. */
  async function runOneBatch(): Promise<void> {
    const controller = new AbortController();
    const db = {
      ...world.db,
      transaction: async (...work: Parameters<typeof world.db.transaction>) => {
        const result = await world.db.transaction(...work);
        controller.abort();
        return result;
      },
    } as typeof world.db;
    await run({ ...world.channel, db }, controller.signal);
  }
  /** Keeps the workers from one kind of job. */
  const postponeJobs = (kind: string) =>
    world.db.query(sql`
      update channel_jobs set leased_until = now() + interval '1 hour'
      where integration_id = ${dealer.integrationId} and kind = ${kind}`);
  /** A projection of everything must find nothing to do. */
  async function assertNothingMissed(): Promise<void> {
    const seen = await observe(dealer.api, async () => {
      await enqueueJob(world.db, 'refresh', [dealer.integrationId], 'to see whether anything was missed');
      await run();
    });
    assert.deepEqual([seen.types, seen.changed, seen.gone], [[], [], []]);
  }

  it('serves the old version until all is there, then the new; no stamp changes and nothing is announced', async () => {
    const ids = await fillStock(130);
    const before = await readDocuments(dealer.api);
    assert.equal(await roll(), true);
    await runOneBatch();
    assert.deepEqual(await storedVersions(), [
      [CURRENT_VERSION, 130],
      [NEXT, RENDERED_LIMITS.first],
    ]);
    const still = await dealer.api.get('/v1/listings?limit=250');
    assert.equal(still.headers['x-api-version'], CURRENT_VERSION);
    assert.ok(still.body.data.every((document: { shape?: string }) => document.shape === undefined));

    const seen = await observe(dealer.api, () => run());
    assert.deepEqual(seen.types, []);
    assert.deepEqual([...seen.documents.keys()].sort(), [...ids].sort());
    for (const [id, document] of seen.documents) {
      assert.equal(document.shape, 'next');
      assert.equal(document.updated_at, before.get(id).updated_at);
    }
    const flipped = await dealer.api.get('/v1/listings?limit=250');
    assert.equal(flipped.headers['x-api-version'], NEXT);
    assert.equal((await dealer.api.get('/v1/me')).body.api_version, NEXT);
    assert.deepEqual(await storedVersions(), [[NEXT, 130]]);

    const [id = ''] = ids;
    const edited = await observe(dealer.api, () => edit(id, { title: 'After the roll' }));
    assert.deepEqual(
      edited.events.map((event) => event.api_version),
      [NEXT],
    );
    await assertNothingMissed();
  });

  it('keeps an ETag and a cursor of before from being wrong after', async () => {
    await fillStock(12);
    const first = await dealer.api.get('/v1/listings?limit=4');
    await roll();
    await run();
    const again = await dealer.api.get('/v1/listings?limit=4', { 'if-none-match': first.headers.etag ?? '' });
    assert.equal(again.status, 200);
    assert.notEqual(again.headers.etag, first.headers.etag);
    const rest = await dealer.api.get(`/v1/listings?limit=4&after=${first.body.next_cursor}`);
    assert.equal(rest.body.data.length, 4);
    assert.equal(rest.body.has_more, false);
  });

  it('renders what changes meanwhile in both versions, with one stamp', async () => {
    const ids = await fillStock(120);
    await roll();
    await runOneBatch();
    const [early = '', removed = '', partId = ''] = [ids[1], ids[2], ids[3]];
    const late = ids.at(-2) ?? '';
    const seen = await observe(dealer.api, async () => {
      await edit(early, { title: 'Early' });
      await edit(late, { title: 'Late' });
      await deleteItem(world.channel, TESTER, dealer.organizationId, removed);
      await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, [partId], false);
      ids.push(await publishNew(world, dealer, watch()));
    });
    assert.equal(seen.types.length, 5);
    const flip = await observe(dealer.api, () => run());
    assert.deepEqual(flip.types, []);
    assert.deepEqual(flip.gone, []);
    assert.equal(flip.documents.size, 119);
    for (const [id, document] of flip.documents) {
      assert.equal(document.shape, 'next');
      assert.equal(document.updated_at, seen.documents.get(id).updated_at);
    }
    await assertNothingMissed();
  });

  it('keeps stamps alike also where a change shows in one of the versions only', async () => {
    const [id = ''] = await fillStock(1);
    await roll(OTHER);
    // The roll has rendered it, and has not finished: the pin is held back.
    await postponeJobs('roll');
    await world.db.query(sql`
      insert into channel_documents
      select integration_id, ${OTHER}, item_id, kind, status, quantity, document, is_unpriceable, valid_until, renderer, updated_at
      from channel_documents where integration_id = ${dealer.integrationId}`);
    await edit(id, { title: 'Hidden in the other version' });
    const stamps = await world.db.query<{ updated_at: Date }>(sql`
      select updated_at from channel_documents where integration_id = ${dealer.integrationId}`);
    assert.equal(stamps.length, 2);
    assert.deepEqual(stamps[0]?.updated_at, stamps[1]?.updated_at);
  });

  it('announces a change of settings that comes in the middle, once for each document', async () => {
    const ids = await fillStock(130);
    await roll();
    await runOneBatch();
    const seen = await observe(dealer.api, async () => {
      await changePresentation(world.channel, TESTER, dealer.organizationId, dealer.integrationId, {
        markupBasisPoints: 700,
      });
      // The roll goes on although the change was not carried into the documents yet.
      await postponeJobs('refresh');
      await run();
      assert.equal((await dealer.api.get('/v1/me')).body.api_version, NEXT);
      await world.db.query(sql`
        update channel_jobs set leased_until = null where integration_id = ${dealer.integrationId} and kind = 'refresh'`);
      await run();
    });
    assert.deepEqual(seen.events.map((event) => event.data.object.id).sort(), ids.sort());
    for (const document of seen.documents.values()) {
      assert.equal(document.price.amount, Math.round((document.object === 'part' ? 18_500 : 1_299_000) * 1.07));
    }
    await assertNothingMissed();
  });

  it('announces a promotion that ends in the middle', async () => {
    const [id = ''] = await fillStock(1);
    const endsAt = new Date(Date.now() + 3_600_000);
    await startPromotion(world.channel, TESTER, dealer.organizationId, id, {
      priceAmount: 1_000,
      startsAt: new Date(0),
      endsAt,
    });
    await roll();
    const seen = await observe(dealer.api, () => run({ ...world.channel, now: () => endsAt }));
    assert.deepEqual(seen.types, ['part.updated']);
    world.setTime(endsAt);
    try {
      assert.equal((await readDocuments(dealer.api)).get(id).promotion, null);
      await assertNothingMissed();
    } finally {
      world.setTime(null);
    }
  });

  it('carries along what a change of settings does not alter, also while that change is not announced yet', async () => {
    const priced = await publishNew(world, dealer, watch());
    const onRequest = await publishNew(world, dealer, watch({ priceAmount: null }));
    const before = await readDocuments(dealer.api);
    await roll();
    const seen = await observe(dealer.api, async () => {
      await changePresentation(world.channel, TESTER, dealer.organizationId, dealer.integrationId, {
        markupBasisPoints: 700,
      });
      await postponeJobs('refresh');
      await run();
    });
    assert.equal((await dealer.api.get('/v1/me')).body.api_version, NEXT);
    assert.deepEqual(
      seen.events.map((event) => event.data.object.id),
      [priced],
    );
    assert.deepEqual([...seen.documents.keys()].sort(), [priced, onRequest].sort());
    const untouched = seen.documents.get(onRequest);
    assert.deepEqual([untouched.shape, untouched.updated_at], ['next', before.get(onRequest).updated_at]);
  });

  it('carries along what stands beside a promotion that has just ended', async () => {
    const ids = await fillStock(5);
    const [id = ''] = ids;
    const endsAt = new Date(Date.now() + 3_600_000);
    await startPromotion(world.channel, TESTER, dealer.organizationId, id, {
      priceAmount: 1_000,
      startsAt: new Date(0),
      endsAt,
    });
    await roll();
    const seen = await observe(dealer.api, () => run({ ...world.channel, now: () => endsAt }));
    assert.deepEqual(seen.types, ['part.updated']);
    assert.deepEqual([...seen.documents.keys()].sort(), ids.sort());
    for (const document of seen.documents.values()) assert.equal(document.shape, 'next');
  });

  it('that is asked for while the channel is detached waits until it is attached, and loses nothing', async () => {
    const ids = await fillStock(12);
    const before = await readDocuments(dealer.api);
    await setOrganization(world.db, TESTER, dealer.integrationId, null);
    assert.equal(await roll(), true);
    assert.equal(await run(), 0);
    assert.deepEqual(await storedVersions(), [[CURRENT_VERSION, 12]]);
    await setOrganization(world.db, TESTER, dealer.integrationId, dealer.organizationId);
    const seen = await observe(dealer.api, () => run());
    assert.deepEqual([seen.types, seen.changed.length, seen.gone], [[], 12, []]);
    assert.deepEqual([...seen.documents.keys()].sort(), ids.sort());
    for (const [id, document] of seen.documents) {
      assert.deepEqual([document.shape, document.updated_at], ['next', before.get(id).updated_at]);
    }
  });

  it('that a detachment interrupts goes on when the channel is attached again, with what it missed', async () => {
    const ids = await fillStock(130);
    await roll();
    await runOneBatch();
    await setOrganization(world.db, TESTER, dealer.integrationId, null);
    const [early = '', removed = ''] = ids;
    await edit(early, { title: 'Changed meanwhile' });
    await deleteItem(world.channel, TESTER, dealer.organizationId, removed);
    assert.equal(await run(), 0);
    assert.deepEqual(await storedVersions(), [
      [CURRENT_VERSION, 130],
      [NEXT, RENDERED_LIMITS.first],
    ]);
    await setOrganization(world.db, TESTER, dealer.integrationId, dealer.organizationId);
    await run();
    assert.deepEqual(await storedVersions(), [[NEXT, 129]]);
    assert.equal((await readDocuments(dealer.api)).get(early).title, 'Changed meanwhile');
    await assertNothingMissed();
  });

  it('that another roll overtakes leaves nothing behind', async () => {
    const ids = await fillStock(120);
    await roll(OTHER);
    await runOneBatch();
    const [removed = ''] = ids;
    await roll(NEXT);
    await run();
    assert.deepEqual(await storedVersions(), [[NEXT, 120]]);
    await deleteItem(world.channel, TESTER, dealer.organizationId, removed);
    await roll(OTHER);
    await run();
    assert.deepEqual(await storedVersions(), [[OTHER, 119]]);
    const { body } = await dealer.api.get('/v1/listings');
    assert.ok(body.data.every((document: { title: string }) => document.title === 'hidden'));
  });

  it('to the version it has, or to one that nobody knows, is refused', async () => {
    assert.equal(await roll(CURRENT_VERSION), false);
    await assert.rejects(roll('1999-01-01'), /does not know/);
    assert.equal((await dealer.api.get('/v1/me')).body.api_version, CURRENT_VERSION);
  });

  it('under writers and readers never shows a gap, or one version under the other’s name', async () => {
    const ids = await fillStock(150);
    const listed = ids.filter((id) => id.startsWith('lst_'));
    let isOver = false;
    const versions = new Set<string>();
    function check(version: string | undefined, document: { shape?: string }): void {
      versions.add(String(version));
      assert.equal(document.shape, version === NEXT ? 'next' : undefined);
    }
    async function readOne(): Promise<void> {
      while (!isOver) {
        const id = listed[Math.floor(Math.random() * listed.length)];
        const { status, headers, body } = await dealer.api.get(`/v1/listings/${id}?nonce=${Math.random()}`);
        assert.equal(status, 200);
        check(headers['x-api-version'], body);
      }
    }
    async function readPage(): Promise<void> {
      while (!isOver) {
        const { headers, body } = await dealer.api.get(`/v1/listings?status=any&limit=250&nonce=${Math.random()}`);
        assert.equal(body.data.length, listed.length);
        for (const document of body.data) check(headers['x-api-version'], document);
      }
    }
    async function write(): Promise<void> {
      for (let round = 0; !isOver; round++) {
        await edit(ids[Math.floor(Math.random() * ids.length)] as string, { title: `Round ${round}` });
        await sleep(2);
      }
    }
    const busy = [readOne(), readOne(), readPage(), write(), write()];
    await roll();
    await run();
    await sleep(100);
    isOver = true;
    await Promise.all(busy);
    assert.deepEqual([...versions].sort(), [CURRENT_VERSION, NEXT]);
    await assertNothingMissed();
  });
});
