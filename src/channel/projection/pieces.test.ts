import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TESTER } from '../../../test/harness/actor.ts';
import { countRoundTrips } from '../../../test/harness/database/round-trips.ts';
import { observe, readDocuments } from '../../../test/harness/observe.ts';
import { part, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { createIntegration } from '../../dealers/integrations/integrations.ts';
import { createItem } from '../../inventory/items/item-operations.ts';
import { setPublished } from '../../inventory/publications.ts';
import { projectItems } from './project-items.ts';

/** Several pieces, of which the last is not full. */
const ITEMS = 80;
const LONG_TEXT = 'It fits. '.repeat(2_200);

describe('a projection of many items', () => {
  let world: World;
  let dealer: Dealer;
  const ids: string[] = [];
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    for (let index = 0; index < ITEMS; index++) {
      ids.push(await createItem(world.channel, TESTER, dealer.organizationId, watch()));
    }
  });
  after(() => world.stop());

  const setAll = (isOn: boolean) =>
    setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, ids, isOn);

  it('goes in pieces, and is one change: one stamp, one event for each item, each document once', async () => {
    const seen = await observe(dealer.api, () => setAll(true));
    assert.deepEqual(seen.events.map((event) => event.data.object.id).sort(), ids.toSorted());
    assert.equal(new Set(seen.events.map((event) => event.created_at)).size, 1);
    const documents = await readDocuments(dealer.api);
    assert.deepEqual([...documents.keys()].sort(), ids.toSorted());
    assert.equal(new Set([...documents.values()].map((document) => document.updated_at)).size, 1);
  });

  it('writes a piece in the round trip that reads a later one', async () => {
    await setAll(false);
    await world.db.query(sql`update publications set is_on = true where integration_id = ${dealer.integrationId}`);
    const trips = countRoundTrips(world.db);
    const { changed } = await world.db.transaction((tx) =>
      projectItems(tx, world.channel, { itemIds: ids, integrationIds: [dealer.integrationId] }),
    );
    trips.stop();
    assert.equal(changed, ITEMS);
    const isShared = (trip: string[]) =>
      trip.some((text) => text.includes('insert into channel_documents')) &&
      trip.some((text) => text.includes('from channel_documents'));
    assert.ok(trips.all().filter(isShared).length >= 2, JSON.stringify(trips.all().map((trip) => trip.length)));
    // Nothing is left to be read when the last one is planned, and still the one before it is not kept for the commit.
    const isWrite = (text: string) => text.includes('insert into channel_documents');
    const writes = trips.all().map((trip) => trip.filter(isWrite).length);
    assert.equal(Math.max(...writes), 1, JSON.stringify(writes));
  });

  /** The event statements of each round trip of a change. */
  async function eventStatements(itemIds: string[]): Promise<number[]> {
    const trips = countRoundTrips(world.db);
    const { changed } = await world.db.transaction((tx) =>
      projectItems(tx, world.channel, { itemIds, integrationIds: [dealer.integrationId] }),
    );
    trips.stop();
    assert.equal(changed, itemIds.length);
    return trips.all().map((trip) => trip.filter((text) => text.includes('insert into events')).length);
  }

  it('of one large item on several channels serves others between documents, and writes them one after the other', async () => {
    const { organizationId } = dealer;
    const fit = { brand: 'B'.repeat(500), model: 'M'.repeat(500), reference_number: 'R'.repeat(500), caliber: null };
    const fits = {
      part_number: null,
      category: 'crown',
      brand: null,
      condition: 'good',
      compatibility: Array(200).fill(fit),
    };
    const itemId = await createItem(world.channel, TESTER, organizationId, part({ attributes: fits as never }));
    const channels = [dealer.integrationId];
    for (let index = 0; index < 7; index++) {
      const input = { organizationId, userId: null, name: `Site ${index}`, currency: 'USD', isTestMode: false };
      channels.push((await createIntegration(world.db, TESTER, input)).id);
    }
    for (const id of channels) await setPublished(world.channel, TESTER, organizationId, id, [itemId], true);
    await world.db.query(sql`
      update items set attributes = jsonb_set(attributes, '{compatibility}', (attributes -> 'compatibility') - 0)
      where id = ${itemId}`);
    const trips = countRoundTrips(world.db);
    const { changed } = await world.db.transaction((tx) =>
      projectItems(tx, world.channel, { itemIds: [itemId], integrationIds: null }),
    );
    trips.stop();
    assert.equal(changed, channels.length);
    // Each document has about 320,000 characters, and so has each event, which names the old value.
    const writes = (table: string) =>
      trips
        .all()
        .map((trip) => trip.filter((text) => text.includes(`insert into ${table}`)).length)
        .filter(Boolean);
    assert.deepEqual(writes('channel_documents'), [1, 1]);
    assert.deepEqual(writes('events'), Array(channels.length).fill(1));
  });

  it('writes its events in one statement, or with their pieces if they are large, in the same order and with one stamp', async () => {
    const parts: string[] = [];
    for (let index = 0; index < ITEMS; index++) {
      parts.push(await createItem(world.channel, TESTER, dealer.organizationId, part({ description: LONG_TEXT })));
    }
    await setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, parts, true);
    const sum = (counts: number[]) => counts.reduce((all, count) => all + count, 0);
    await world.db.query(sql`update items set price_amount = price_amount + 100 where id = any(${parts}::text[])`);
    assert.equal(sum(await eventStatements(parts)), 1);
    await world.db.query(sql`update items set description = '' where id = any(${parts}::text[])`);
    const seen = await observe(dealer.api, async () => {
      const counts = await eventStatements(parts);
      // The events name the old texts.
      assert.ok(sum(counts) > 2 && Math.max(...counts) === 1, JSON.stringify(counts));
    });
    assert.deepEqual(
      seen.events.map((event) => event.data.object.id),
      parts,
    );
    assert.equal(new Set(seen.events.map((event) => event.created_at)).size, 1);
  });

  it('does not keep what earlier pieces have read until the last one is written', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const read: WeakRef<object>[] = [];
    let kept: number | null = null;
    const versions = world.channel.versions.map((version) => {
      let made = 0;
      return {
        ...version,
        present: (document: Parameters<typeof version.present>[0]) => {
          made += 1;
          if (made === ITEMS) {
            collectGarbage();
            kept = read.slice(ITEMS / 4, ITEMS / 2).filter((row) => row.deref() !== undefined).length;
          }
          return version.present(document);
        },
      };
    });
    await setAll(true);
    await world.db.transaction(async (tx) => {
      const query: typeof tx.query = async <Row extends object>(statement: Sql) => {
        const rows = await tx.query<Row>(statement);
        if (statement.text.includes('from channel_documents')) read.push(...rows.map((row) => new WeakRef(row)));
        return rows;
      };
      const integrationIds = [dealer.integrationId];
      await projectItems({ ...tx, query }, { ...world.channel, versions }, { itemIds: ids, integrationIds });
    });
    assert.equal(read.length, ITEMS);
    assert.ok(kept !== null && kept < ITEMS / 8, `${kept} of the second quarter were kept`);
    await setAll(false);
  });

  it('is planned a few documents at a time: others are served in between', async () => {
    let round = 0;
    const inRound = new Map<number, number>();
    const versions = world.channel.versions.map((version) => ({
      ...version,
      present: (document: Parameters<typeof version.present>[0]) => {
        inRound.set(round, (inRound.get(round) ?? 0) + 1);
        const untilMs = performance.now() + 1;
        while (performance.now() < untilMs);
        return version.present(document);
      },
    }));
    const projected = world.db.transaction((tx) =>
      projectItems(tx, { ...world.channel, versions }, { itemIds: ids, integrationIds: [dealer.integrationId] }),
    );
    let isDone = false;
    const ended = projected.finally(() => {
      isDone = true;
    });
    for (; !isDone; round++) await nextRound();
    await ended;
    const counts = [...inRound.values()];
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      ITEMS,
    );
    assert.ok(Math.max(...counts) <= 2, JSON.stringify(counts));
  });

  it('that fails in the middle leaves nothing, and the connection serves the next', async () => {
    const before = await readDocuments(dealer.api);
    const versions = world.channel.versions.map((version) => {
      let made = 0;
      return {
        ...version,
        present: (document: Parameters<typeof version.present>[0]) => {
          made += 1;
          if (made > ITEMS / 2) throw new Error('no more paper');
          return { ...version.present(document), title: 'half' };
        },
      };
    });
    const failing = world.db.transaction((tx) =>
      projectItems(tx, { ...world.channel, versions }, { itemIds: ids, integrationIds: [dealer.integrationId] }),
    );
    await assert.rejects(failing, /no more paper/);
    assert.deepEqual(await readDocuments(dealer.api), before);
    await setAll(false);
  });
});
