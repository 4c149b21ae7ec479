import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { countRoundTrips } from '../../../test/harness/database/round-trips.ts';
import { CONSTANT_SIZES } from '../../../test/harness/jobs/batch-sizes.ts';
import { observe, readDocuments } from '../../../test/harness/observe.ts';
import { part, publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { TURN_BATCHES } from '../../db/jobs/run-leased-jobs.ts';
import { sql } from '../../db/sql.ts';
import { setOrganization } from '../../dealers/integrations/attach-integration.ts';
import { changePresentation } from '../../dealers/integrations/integration-settings.ts';
import { changeOrganization } from '../../dealers/organization-settings.ts';
import { newId } from '../../ids/new-id.ts';
import { createItem, editItem, setHidden } from '../../inventory/items/item-operations.ts';
import { startPromotion } from '../../inventory/promotions.ts';
import { setPublished } from '../../inventory/publications.ts';
import { deleteItem } from '../../sales/delete-item.ts';
import { sellUnits } from '../../sales/sell.ts';
import type { ChannelContext } from '../context.ts';
import { createDocumentReader } from '../reads/read-documents.ts';
import { enqueueJob, enqueueStaleRenders, listJobs } from './channel-job-queue.ts';
import { PRICED_LIMITS, RENDERED_LIMITS, runJobs } from './run-jobs.ts';

/** Some full batches and a rest. */
const STOCK = 230;

describe('mass changes', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
  });

  const run = (context: ChannelContext = world.channel, signal?: AbortSignal) =>
    runJobs(context, signal, 0, CONSTANT_SIZES);
  const setMarkup = (markupBasisPoints: number) =>
    changePresentation(world.channel, TESTER, dealer.organizationId, dealer.integrationId, { markupBasisPoints });
  const jobs = () => listJobs(world.db, dealer.organizationId, 10);
  const age = (kind = 'refresh') =>
    world.db.query(sql`
      update channel_jobs set leased_until = now() - interval '1 second'
      where integration_id = ${dealer.integrationId} and kind = ${kind} and leased_until is not null`);

  async function fillStock(count = STOCK): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      ids.push(await createItem(world.channel, TESTER, dealer.organizationId, index % 3 === 0 ? part() : watch()));
    }
    await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, ids, true);
    return ids.sort();
  }

  /** A worker that stops after so many batches that announced something. */
  function stoppingAfter(batches: number): { context: ChannelContext; signal: AbortSignal } {
    const controller = new AbortController();
    let seen = 0;
    const onEvents = () => {
      seen += 1;
      if (seen === batches) controller.abort();
    };
    return { context: { ...world.channel, onEvents }, signal: controller.signal };
  }

  it('go in batches and show their progress', async () => {
    await fillStock();
    await setMarkup(500);
    assert.partialDeepStrictEqual(await jobs(), [
      { kind: 'refresh', status: 'pending', done: 0, total: STOCK, reasons: ['markupBasisPoints'], error: null },
    ]);
    const seen = await observe(dealer.api, async () => {
      const { context, signal } = stoppingAfter(1);
      assert.equal(await run(context, signal), PRICED_LIMITS.first);
    });
    assert.equal(seen.types.length, PRICED_LIMITS.first);
    assert.equal(new Set(seen.events.map((event) => event.created_at)).size, 1);
    assert.partialDeepStrictEqual(await jobs(), [{ status: 'pending', done: PRICED_LIMITS.first, total: STOCK }]);
    assert.equal(await run(), STOCK - PRICED_LIMITS.first);
    assert.partialDeepStrictEqual(await jobs(), [{ status: 'done', done: STOCK, total: STOCK }]);
    assert.equal(await run(), 0);
  });

  /** A change of prices alone, and one of any field. */
  const KINDS = [
    { what: 'of prices', limit: PRICED_LIMITS.first, ask: () => setMarkup(500) },
    {
      what: 'of other fields',
      limit: RENDERED_LIMITS.first,
      ask: () => changeOrganization(world.channel, TESTER, dealer.organizationId, { name: 'Renamed' }),
    },
  ];

  for (const { what, limit, ask } of KINDS) {
    it(`${what} that a stop interrupts go on at once, where they were, and announce each document once`, async () => {
      const ids = await fillStock();
      await ask();
      const seen = await observe(dealer.api, async () => {
        const { context, signal } = stoppingAfter(2);
        assert.equal(await run(context, signal), 2 * limit);
        assert.equal(await run(), STOCK - 2 * limit);
      });
      assert.deepEqual(seen.events.map((event) => event.data.object.id).sort(), ids);
    });

    it(`${what} read what a batch is made of in the round trip that locks the clock, once they know which comes next`, async () => {
      await fillStock();
      await ask();
      const trips = countRoundTrips(world.db);
      await run();
      trips.stop();
      const isLocking = (trip: string[]) => trip.some((text) => /from channel_clocks[^;]*for update/.test(text));
      const isReading = (trip: string[]) => trip.some((text) => / items (i|where)\b/.test(text));
      const batches = trips.all().filter(isLocking);
      // A turn begins with a batch that nobody expected.
      const batchesOf = Math.ceil(STOCK / limit);
      assert.equal(batches.length, batchesOf);
      assert.equal(batches.filter(isReading).length, batchesOf - Math.ceil(batchesOf / TURN_BATCHES));
    });
  }

  it('that a fault interrupts show it, and are tried again after a pause', async () => {
    const ids = await fillStock();
    await setMarkup(500);
    const fail = () => {
      throw new Error('no more memory');
    };
    const seen = await observe(dealer.api, async () => {
      await assert.rejects(run({ ...world.channel, onEvents: fail }), /no more memory/);
      assert.partialDeepStrictEqual(await jobs(), [
        { status: 'pending', done: PRICED_LIMITS.first, error: 'no more memory' },
      ]);
      assert.equal(await run(), 0, 'it is left alone for a while');
      await age();
      assert.equal(await run(), STOCK - PRICED_LIMITS.first);
    });
    assert.deepEqual(seen.events.map((event) => event.data.object.id).sort(), ids);
    assert.partialDeepStrictEqual(await jobs(), [{ status: 'done', done: STOCK, error: null }]);
  });

  it('that two workers claim announce each document once', async () => {
    const ids = await fillStock();
    await setMarkup(500);
    const seen = await observe(dealer.api, async () => {
      const onEvents = () => void age();
      await Promise.all([1, 2, 3].map(() => run({ ...world.channel, onEvents })));
      await age();
      await run();
    });
    assert.deepEqual(seen.events.map((event) => event.data.object.id).sort(), ids);
    assert.partialDeepStrictEqual(await jobs(), [{ status: 'done', done: STOCK }]);
  });

  it('that another change meets start over, as one job with both reasons', async () => {
    const ids = await fillStock();
    await setMarkup(500);
    const { context, signal } = stoppingAfter(1);
    await run(context, signal);
    await changeOrganization(world.channel, TESTER, dealer.organizationId, { name: 'Renamed' });
    assert.partialDeepStrictEqual(await jobs(), [
      { status: 'pending', done: 0, total: STOCK, reasons: ['markupBasisPoints', 'name'] },
    ]);
    const seen = await observe(dealer.api, () => run());
    assert.deepEqual(seen.events.map((event) => event.data.object.id).sort(), ids);
    for (const id of ids) assert.equal(seen.documents.get(id).dealer.name, 'Renamed');
    assert.equal((await jobs()).length, 1);
  });

  it('that another change meets in a batch start over', async () => {
    await fillStock();
    await setMarkup(500);
    let changes = 0;
    const changing: Promise<void>[] = [];
    const onEvents = () => {
      changes += 1;
      if (changes <= 3) changing.push(setMarkup(1_000 * changes));
    };
    await run({ ...world.channel, onEvents });
    await Promise.all(changing);
    await run();
    const documents = await readDocuments(dealer.api);
    for (const { object, price } of documents.values()) {
      assert.equal(price.amount, Math.round((object === 'part' ? 18_500 : 1_299_000) * 1.3));
    }
  });

  it('are right about what is edited or published between two batches', async () => {
    const ids = await fillStock();
    await setMarkup(500);
    const late = await createItem(world.channel, TESTER, dealer.organizationId, watch());
    const editing: Promise<unknown>[] = [];
    const onEvents = () => {
      if (editing.length > 0) return;
      editing.push(
        setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, [late], true),
        ...ids.map((id) => editItem(world.channel, TESTER, dealer.organizationId, id, { title: `New ${id}` })),
      );
    };
    await run({ ...world.channel, onEvents });
    await Promise.all(editing);
    const documents = await readDocuments(dealer.api);
    assert.deepEqual([...documents.keys()].sort(), [...ids, late].sort());
    for (const [id, { object, price, title }] of documents) {
      assert.equal(price.amount, Math.round((object === 'part' ? 18_500 : 1_299_000) * 1.05));
      if (id !== late) assert.equal(title, `New ${id}`);
    }
  });

  it('of one dealer that are started over again and again leave others their turn', async () => {
    await fillStock(TURN_BATCHES * RENDERED_LIMITS.first + 1);
    const other = await world.dealer();
    await publishNew(world, other, watch());
    await setMarkup(500);
    await changePresentation(world.channel, TESTER, other.organizationId, other.integrationId, {
      markupBasisPoints: 700,
    });
    let restarts = 0;
    let isOtherDone = false;
    // After each batch, before the job can come to its end.
    const onEvents = (integrationIds: string[]) => {
      if (integrationIds.includes(other.integrationId)) isOtherDone = true;
      if (isOtherDone || restarts === 50) return;
      restarts += 1;
      void enqueueJob(world.db, 'refresh', [dealer.integrationId], 'again');
    };
    await run({ ...world.channel, onEvents });
    assert.ok(isOtherDone && restarts < 50, `the other dealer waited for ${restarts} batches`);
    assert.partialDeepStrictEqual(await listJobs(world.db, other.organizationId, 1), [{ status: 'done', done: 1 }]);
  });

  it('are not asked for by settings that are as they were', async () => {
    await fillStock(1);
    await setMarkup(500);
    await run();
    await setMarkup(500);
    assert.partialDeepStrictEqual(await jobs(), [{ status: 'done' }]);
    assert.equal((await jobs()).length, 1);
  });

  it('bring back what is published and has lost its document, and nothing that is off', async () => {
    const ids = await fillStock(130);
    const lost = ids.slice(-3);
    const [off = ''] = ids.filter((id) => id.startsWith('prt_'));
    await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, [off], false);
    await world.db.query(sql`
      delete from channel_documents where integration_id = ${dealer.integrationId} and item_id = any(${lost}::text[])`);
    const seen = await observe(dealer.api, async () => {
      await enqueueJob(world.db, 'refresh', [dealer.integrationId], 'documents were lost');
      await run();
    });
    assert.deepEqual(seen.events.map((event) => event.data.object.id).sort(), lost);
    assert.deepEqual(
      [...seen.documents.keys()].sort(),
      ids.filter((id) => id !== off),
    );
    assert.partialDeepStrictEqual(await jobs(), [{ status: 'done', done: 130, total: 130 }]);
  });

  it('of a channel that is detached wait where they are, also in the middle, and go on when it is attached', async () => {
    await fillStock();
    await setMarkup(500);
    const db: typeof world.db = {
      ...world.db,
      async transaction(...work) {
        const result = await world.db.transaction(...work);
        await setOrganization(world.db, TESTER, dealer.integrationId, null);
        return result;
      },
    };
    const seen = await observe(dealer.api, async () => {
      assert.equal(await run({ ...world.channel, db }), PRICED_LIMITS.first);
      const [job] = await world.db.query(sql`
        select status, done, leased_until from channel_jobs where integration_id = ${dealer.integrationId}`);
      assert.deepEqual(job, { status: 'pending', done: PRICED_LIMITS.first, leased_until: null });
      assert.equal(await run(), 0);
      await setOrganization(world.db, TESTER, dealer.integrationId, dealer.organizationId);
      assert.equal(await run(), STOCK);
    });
    assert.equal(seen.types.length, STOCK);
  });

  it('of a channel that is deleted end', async () => {
    await fillStock(5);
    await setMarkup(500);
    await world.db.query(sql`delete from integrations where id = ${dealer.integrationId}`);
    assert.equal(await run(), 0);
  });

  it('racing with edits, sales, toggles and deletions leave every document as it must be', async () => {
    const ids = await fillStock(120);
    const { organizationId, integrationId } = dealer;
    const dice = (max: number) => Math.floor(Math.random() * max);
    const someId = () => ids[dice(ids.length)] as string;
    let isOver = false;
    async function write(): Promise<void> {
      while (!isOver) {
        const id = someId();
        const operations = [
          () => editItem(world.channel, TESTER, organizationId, id, { priceAmount: 1_000 + dice(1_000) }),
          () => setHidden(world.channel, TESTER, organizationId, [id, someId()], dice(2) === 0),
          () => setPublished(world.channel, TESTER, organizationId, integrationId, [id, someId()], dice(2) === 0),
          () => sellUnits(world.channel, TESTER, organizationId, id, 1),
          () => (dice(5) === 0 ? deleteItem(world.channel, TESTER, organizationId, id) : Promise.resolve()),
        ];
        await operations[dice(operations.length)]?.().catch((error) => assert.equal(error.name, 'DomainError', error));
      }
    }
    const writers = [write(), write(), write(), write()];
    for (let round = 1; round <= 6; round++) {
      await setMarkup(100 * round);
      await run();
    }
    isOver = true;
    await Promise.all(writers);
    // Whatever a projection of everything would still change is something that was missed.
    const seen = await observe(dealer.api, async () => {
      await enqueueJob(world.db, 'refresh', [integrationId], 'to see whether anything was missed');
      await run();
    });
    assert.deepEqual([seen.types, seen.changed, seen.gone], [[], [], []]);
  });

  describe('that only render anew', () => {
    const moved = (): ChannelContext => ({ ...world.channel, publicUrl: 'https://moved.example' });

    async function withPhoto(item = watch()): Promise<string> {
      const id = await publishNew(world, dealer, item);
      await world.db.query(sql`
        insert into photos (id, item_id, organization_id, position, width, height, format)
        values (${newId('photo')}, ${id}, ${dealer.organizationId}, 1, 200, 100, 'png')`);
      await editItem(world.channel, TESTER, dealer.organizationId, id, { title: 'With a photo' });
      return id;
    }
    async function readMoved(id: string) {
      const reader = createDocumentReader(moved(), 1_000_000);
      const found = await reader.one({ integrationId: dealer.integrationId, kind: 'listing' }, id, new Date());
      return { document: JSON.parse(String(found?.document)), isCurrent: found?.isCurrent };
    }
    /** Lets only one kind of job be claimed. */
    const postponeJobs = (kind: string) =>
      world.db.query(sql`
        update channel_jobs set leased_until = now() + interval '1 hour'
        where integration_id = ${dealer.integrationId} and kind = ${kind}`);

    it('change bytes, but no stamp, and announce nothing', async () => {
      const id = await withPhoto();
      const seen = await observe(dealer.api, async () => {
        assert.equal((await readMoved(id)).isCurrent, false, 'not to be kept until it is rendered');
        assert.ok((await enqueueStaleRenders(moved())) >= 1);
        await run(moved());
      });
      assert.deepEqual(seen.types, []);
      const { document, isCurrent } = await readMoved(id);
      assert.equal(isCurrent, true);
      assert.ok(document.photos[0].url.startsWith('https://moved.example/photos/'));
      assert.equal(document.updated_at, seen.documents.get(id).updated_at);
      assert.equal(await enqueueStaleRenders(moved()), 0);
    });

    it('are asked for once while they wait', async () => {
      await withPhoto();
      await enqueueStaleRenders(moved());
      assert.equal(await enqueueStaleRenders(moved()), 0);
      await run(moved());
    });

    it('announce a change of settings that is not announced yet, once', async () => {
      const id = await withPhoto();
      await enqueueStaleRenders(moved());
      await setMarkup(1_000);
      await postponeJobs('refresh');
      const rendered = await observe(dealer.api, () => run(moved()));
      assert.deepEqual(rendered.types, ['listing.updated']);
      assert.equal(rendered.documents.get(id).price.amount, 1_428_900);
      const refreshed = await observe(dealer.api, async () => {
        await age();
        await run(moved());
      });
      assert.deepEqual([refreshed.types, refreshed.changed], [[], []]);
    });

    it('announce a promotion that ended and is not announced yet', async () => {
      const id = await withPhoto();
      const endsAt = new Date(Date.now() + 3_600_000);
      await startPromotion(world.channel, TESTER, dealer.organizationId, id, {
        priceAmount: 1_000,
        startsAt: new Date(0),
        endsAt,
      });
      await enqueueStaleRenders(moved());
      // Only this context's time moves: no read of the world's own app projects the document before.
      const later = { ...moved(), now: () => endsAt };
      const seen = await observe(dealer.api, () => run(later));
      assert.deepEqual(seen.types, ['listing.updated']);
      assert.equal(seen.documents.get(id).promotion, null);
    });
  });
});
