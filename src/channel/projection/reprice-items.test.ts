import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { dice } from '../../../test/harness/dice.ts';
import { observe, readDocuments, secondChannel } from '../../../test/harness/observe.ts';
import { part, publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { CURRENT_VERSION, type JsonObject } from '../../contract/versions.ts';
import { talliedDatabase } from '../../db/counted-database.ts';
import type { Transaction } from '../../db/database.ts';
import { plannedAnew, type Sql, sql } from '../../db/sql.ts';
import { changePresentation } from '../../dealers/integrations/integration-settings.ts';
import { changeOrganization } from '../../dealers/organization-settings.ts';
import { removeRate, setRate } from '../../dealers/rates/exchange-rates.ts';
import type { NewItem } from '../../inventory/items/item-input.ts';
import { setHidden } from '../../inventory/items/item-operations.ts';
import { startPromotion } from '../../inventory/promotions.ts';
import { setPublished } from '../../inventory/publications.ts';
import { sellUnits } from '../../sales/sell.ts';
import { lockClocks } from '../clock.ts';
import { enqueueJob } from '../jobs/channel-job-queue.ts';
import { PRICED_LIMITS, RENDERED_LIMITS, runJobs } from '../jobs/run-jobs.ts';
import { ROUNDINGS } from './pricing.ts';
import { readPriceRows, repriceItems } from './reprice-items.ts';

const DAY_MS = 86_400_000;
/** Typed by somebody who knows how documents are read. */
const HOSTILE =
  'A ","price":{"amount":1},"description":"B\\","price":null,"updated_at":"2026-01-01T00:00:00.000Z"} é 時計';
/** Its document is stored outside of the row. */
const LONG_TEXT = 'It fits, and it has been worn twice. '.repeat(300);

describe('a change of prices alone', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
    // For the test of plans: on few rows that are analyzed, one index costs as much as another.
    await world.db.query(sql`alter table channel_documents set (autovacuum_enabled = off)`);
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
  });

  type Settings = Parameters<typeof changePresentation>[4];
  async function change(settings: Settings): Promise<void> {
    await changePresentation(world.channel, TESTER, dealer.organizationId, dealer.integrationId, settings);
    await runJobs(world.channel, undefined, 0);
  }
  const publish = (item: NewItem) => publishNew(world, dealer, item);
  const promote = (id: string, priceAmount: number, fromDay: number, toDay: number | null) =>
    startPromotion(world.channel, TESTER, dealer.organizationId, id, {
      priceAmount,
      startsAt: new Date(Date.now() + fromDay * DAY_MS),
      endsAt: toDay === null ? null : new Date(Date.now() + toDay * DAY_MS),
    });
  const stored = (integrationId = dealer.integrationId) =>
    world.db.query<{ item_id: string; document: string }>(sql`
      select item_id, document, status, quantity, is_unpriceable, valid_until, renderer, updated_at
      from channel_documents where integration_id = ${integrationId} order by item_id`);

  /** Something of everything that a price can depend on. */
  async function fillStock(): Promise<Record<string, string>> {
    const { organizationId } = dealer;
    const ids = {
      plain: await publish(watch()),
      hostile: await publish(watch({ title: HOSTILE, stockNumber: 'S","price":1', description: HOSTILE })),
      long: await publish(watch({ description: LONG_TEXT })),
      onRequest: await publish(watch({ priceAmount: null })),
      promoted: await publish(watch()),
      planned: await publish(watch()),
      ended: await publish(watch()),
      endless: await publish(part({ units: 3 })),
      part: await publish(part({ units: 5 })),
      soldOut: await publish(part({ units: 1 })),
      off: await publish(part()),
      hidden: await publish(watch()),
      sold: await publish(watch()),
    };
    await promote(ids.promoted, 1_000_000, -1, 1);
    await promote(ids.planned, 1_000_000, 1, 2);
    await promote(ids.endless, 17_000, -1, null);
    await world.db.query(sql`
      insert into promotions (id, item_id, organization_id, price_amount, starts_at, ends_at)
      values (${`prm_${ids.ended}`}, ${ids.ended}, ${organizationId}, 5, now() - interval '2 days', now() - interval '1 day')`);
    await setPublished(world.channel, TESTER, organizationId, dealer.integrationId, [ids.off], false);
    await setHidden(world.channel, TESTER, organizationId, [ids.hidden], true);
    await sellUnits(world.channel, TESTER, organizationId, ids.sold, 1);
    await sellUnits(world.channel, TESTER, organizationId, ids.soldOut, 1);
    return ids;
  }

  it('writes the very bytes that rendering writes, whatever the stock is like and whichever price setting changes', async () => {
    await setRate(world.channel, TESTER, 'USD', 'CHF', '0.8137');
    await setRate(world.channel, TESTER, 'JPY', 'USD', '0.0064');
    await fillStock();
    const seed = Number(process.env.REPRICE_SEED ?? Date.now() % 1_000_000);
    const { roll, pick } = dice(seed);
    for (let round = 1; round <= 12; round++) {
      const settings: Settings = {
        ...(roll(2) === 0 ? { markupBasisPoints: roll(20_000) - 5_000 } : {}),
        ...(roll(2) === 0 ? { rounding: pick(ROUNDINGS) } : {}),
        ...(roll(2) === 0 ? { currency: pick(['USD', 'CHF', 'JPY']) } : {}),
      };
      await change(settings);
      const repriced = await stored();
      await enqueueJob(world.db, 'render', [dealer.integrationId], 'to compare');
      await runJobs(world.channel, undefined, 0);
      assert.deepEqual(repriced, await stored(), `seed ${seed}, round ${round}: ${JSON.stringify(settings)}`);
    }
  });

  it('announces what rendering announces: the same events, with the old prices of parts', async () => {
    const ids = await fillStock();
    const { integrationId: otherId, api: otherApi } = await secondChannel(world, dealer);
    await setPublished(world.channel, TESTER, dealer.organizationId, otherId, Object.values(ids), true);
    await setPublished(world.channel, TESTER, dealer.organizationId, otherId, [ids.off ?? ''], false);
    const contentOf = ({ type, data }: { type: string; data: object }) => JSON.stringify({ type, data });
    const repriced = await observe(dealer.api, () => change({ markupBasisPoints: 700 }));
    const rendered = await observe(otherApi, async () => {
      await changePresentation(world.channel, TESTER, dealer.organizationId, otherId, { markupBasisPoints: 700 });
      // Another reason beside it: each document is rendered.
      await enqueueJob(world.db, 'refresh', [otherId], 'to compare');
      await runJobs(world.channel, undefined, 0);
    });
    assert.deepEqual(repriced.events.map(contentOf).sort(), rendered.events.map(contentOf).sort());
    assert.deepEqual(repriced.changed.sort(), rendered.changed.sort());
    // On request nothing changes; what is sold out, sold or hidden gets a stamp.
    assert.ok(!repriced.changed.includes(ids.onRequest ?? ''));
    assert.ok(repriced.changed.includes(ids.sold ?? '') && repriced.changed.includes(ids.hidden ?? ''));
    const ofPart = repriced.events.find(({ data }) => data.object.id === ids.endless);
    assert.deepEqual(Object.keys(ofPart?.data.previous_attributes ?? {}), ['price', 'promotion']);
    assert.equal(new Set(repriced.events.map(({ created_at }) => created_at)).size, 1);
  });

  it('sends the server neither documents nor what they are rendered from', async () => {
    const long = await Promise.all(Array.from({ length: 20 }, () => publish(watch({ description: LONG_TEXT }))));
    const { db, storedBytes } = talliedDatabase(world.db);
    await changePresentation(world.channel, TESTER, dealer.organizationId, dealer.integrationId, {
      markupBasisPoints: 300,
    });
    const stop = new AbortController();
    // After its only batch, before another transaction is counted.
    const onEvents = () => stop.abort();
    await runJobs({ ...world.channel, db, onEvents }, stop.signal, 0);
    assert.ok(storedBytes() > 0 && storedBytes() < long.length * 1_500, `${storedBytes()} bytes`);
  });

  it('takes no price for an exchange rate that is taken away, and prices again when it is back', async () => {
    await setRate(world.channel, TESTER, 'USD', 'NOK', '10');
    const id = await publish(watch());
    const onRequest = await publish(watch({ priceAmount: null }));
    await change({ currency: 'NOK' });
    const unpriceable = async () =>
      (
        await world.db.query<{ item_id: string }>(sql`
          select item_id from channel_documents where integration_id = ${dealer.integrationId} and is_unpriceable`)
      ).map((row) => row.item_id);
    await removeRate(world.channel, TESTER, 'USD', 'NOK', { isForced: true });
    await runJobs(world.channel, undefined, 0);
    assert.deepEqual(await unpriceable(), [id]);
    await setRate(world.channel, TESTER, 'USD', 'NOK', '11');
    await runJobs(world.channel, undefined, 0);
    assert.deepEqual(await unpriceable(), []);
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).body.price.amount, 1_299_000 * 11);
    assert.equal((await dealer.api.get(`/v1/listings/${onRequest}`)).body.price, null);
  });

  /** The plans of statements that are made before any table was analyzed; a large channel may get its plan from then. */
  async function plansOf(ask: (tx: Transaction) => Promise<unknown>): Promise<string[]> {
    const plans: string[] = [];
    await world.db.transaction(
      async (tx) => {
        async function explain({ text, values }: Sql): Promise<void> {
          const statement = plannedAnew({ text: `explain ${text}`, values } as Sql);
          const rows = await tx.query<{ 'QUERY PLAN': string }>(statement);
          plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        }
        const query = async <Row extends object>(statement: Sql): Promise<Row[]> => {
          if (statement.text.includes('split_part')) await explain(statement);
          return await tx.query<Row>(statement);
        };
        const explaining: Promise<void>[] = [];
        const defer = (statement: Sql) => {
          if (statement.text.includes('update channel_documents')) explaining.push(explain(statement));
        };
        await ask({ ...tx, query, defer });
        await Promise.all(explaining);
      },
      { planning: 'once' },
    );
    return plans;
  }

  it('finds each document and each item by its key, however many the channel has', async () => {
    const { integrationId } = dealer;
    const ids = await Promise.all([publish(watch()), publish(part())]);
    await world.db.query(sql`update integrations set markup_basis_points = 100 where id = ${integrationId}`);
    const plans = await plansOf(async (tx) => {
      const clocks = await lockClocks(tx, [integrationId]);
      const priceRows = await readPriceRows(tx, world.channel, integrationId, ids);
      await repriceItems(tx, world.channel, { integrationId, itemIds: ids, projectedLimit: 0, clocks, priceRows });
    });
    assert.equal(plans.length, 2);
    for (const plan of plans) {
      const indexes = [...plan.matchAll(/using (\w+) on (channel_documents|items)\b/g)].map(([, index]) => index ?? '');
      assert.ok(indexes.length > 0, plan);
      for (const index of indexes) assert.match(index, /^(channel_documents_(pkey|item)|items_pkey)$/, plan);
      assert.doesNotMatch(plan, /Seq Scan on (channel_documents|items)\b/);
    }
  });

  it('renders no more documents in a batch than any other change, and leaves the rest to the next one', async () => {
    const ids: string[] = [];
    for (let index = 0; index < PRICED_LIMITS.first + 10; index++) ids.push(await publish(watch()));
    ids.sort();
    // Between the first items of the batch, all that another renderer made.
    await world.db.query(sql`
      update channel_documents set renderer = 'older'
      where integration_id = ${dealer.integrationId} and item_id <> ${ids[3] ?? ''}`);
    await changePresentation(world.channel, TESTER, dealer.organizationId, dealer.integrationId, {
      markupBasisPoints: 200,
    });
    const seen = await observe(dealer.api, async () => {
      const stop = new AbortController();
      const context = { ...world.channel, onEvents: () => stop.abort() };
      assert.equal(await runJobs(context, stop.signal, 0), RENDERED_LIMITS.first + 1);
      assert.equal(await runJobs(world.channel, undefined, 0), ids.length - RENDERED_LIMITS.first - 1);
    });
    assert.deepEqual(seen.events.map(({ data }) => data.object.id).sort(), ids);
    for (const { price } of seen.documents.values()) assert.equal(price.amount, 1_324_980);
  });

  it('becomes a change of everything when another setting changes in the middle', async () => {
    const ids: string[] = [];
    for (let index = 0; index < PRICED_LIMITS.first + 10; index++) ids.push(await publish(watch()));
    await changePresentation(world.channel, TESTER, dealer.organizationId, dealer.integrationId, {
      markupBasisPoints: 200,
    });
    let renaming: Promise<unknown> | null = null;
    const onEvents = () => {
      renaming ??= changeOrganization(world.channel, TESTER, dealer.organizationId, { name: 'Renamed' });
    };
    await runJobs({ ...world.channel, onEvents }, undefined, 0);
    await renaming;
    await runJobs(world.channel, undefined, 0);
    const documents = await readDocuments(dealer.api);
    assert.equal(documents.size, ids.length);
    for (const { price, dealer: shown } of documents.values()) {
      assert.deepEqual([price.amount, shown.name], [1_324_980, 'Renamed']);
    }
  });

  it('renders documents in a version that shows prices in another way', async () => {
    const inHundreds = (document: JsonObject) => ({ ...document, price: { hundreds: 1 } });
    const versions = [{ date: CURRENT_VERSION, present: inHundreds }];
    await publish(watch());
    await changePresentation(world.channel, TESTER, dealer.organizationId, dealer.integrationId, {
      markupBasisPoints: 200,
    });
    await runJobs({ ...world.channel, versions }, undefined, 0);
    const [row] = await stored();
    assert.deepEqual(JSON.parse(row?.document ?? '{}').price, { hundreds: 1 });
  });

  it('renders what is out of date for another reason: no document, an older renderer, a promotion that is due', async () => {
    const ids = await fillStock();
    const [lost = '', old = '', due = ''] = [ids.plain, ids.part, ids.promoted];
    await world.db.query(sql`
      delete from channel_documents where integration_id = ${dealer.integrationId} and item_id = ${lost}`);
    await world.db.query(sql`
      update channel_documents set renderer = 'older', document = replace(document, 'title', 'heading')
      where integration_id = ${dealer.integrationId} and item_id = ${old}`);
    await world.db.query(sql`
      update promotions set ends_at = now() - interval '1 second', starts_at = now() - interval '1 day' where item_id = ${due}`);
    await change({ markupBasisPoints: 900 });
    const repriced = await stored();
    assert.ok(repriced.some((row) => row.item_id === lost));
    assert.ok(!repriced.some((row) => row.document.includes('heading')));
    assert.equal((await dealer.api.get(`/v1/listings/${due}`)).body.promotion, null);
    assert.equal(new Set(repriced.filter(({ item_id }) => [lost, old, due].includes(item_id)).map(stampOf)).size, 1);
    await enqueueJob(world.db, 'render', [dealer.integrationId], 'to compare');
    await runJobs(world.channel, undefined, 0);
    assert.deepEqual(repriced, await stored());
  });
});

function stampOf({ document }: { document: string }): string {
  return JSON.parse(document).updated_at;
}
