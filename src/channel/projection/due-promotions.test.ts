import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { explainRead } from '../../../test/harness/database/explain.ts';
import { addShop } from '../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { refreshDue, refreshDueOf, TURN_TRANSACTIONS } from './due-promotions.ts';

const MANY = 2_000;
const FEW = 50;
const CHANNELS = 12;

describe('documents whose time has come', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  /** Documents of one dealer that are due since so long. Only the first one has an item, so the others go. */
  async function fallDue(dealer: Dealer, count: number, minutesAgo: number): Promise<void> {
    const id = await publishNew(world, dealer, watch());
    await world.db.query(sql`
      insert into channel_documents (integration_id, api_version, item_id, kind, status, quantity, document, is_unpriceable,
        valid_until, renderer, updated_at)
      select integration_id, api_version, item_id || '_' || n, kind, status, quantity, document, is_unpriceable,
        now() - make_interval(mins => ${minutesAgo}), renderer, updated_at
      from channel_documents cross join generate_series(1, ${count}) as n
      where integration_id = ${dealer.integrationId} and item_id = ${id}`);
  }

  async function dueOf({ integrationId }: Dealer): Promise<number> {
    const rows = await world.db.query(sql`
      select from channel_documents where integration_id = ${integrationId} and valid_until <= now()`);
    return rows.length;
  }

  it('are projected dealer by dealer in turns, not one dealer’s before those of the others', async () => {
    const [large, small] = [await world.dealer(), await world.dealer()];
    await fallDue(large, MANY, 60);
    await fallDue(small, FEW, 1);
    let left: number | null = null;
    const looking: Promise<void>[] = [];
    const onEvents = (integrationIds: string[]) => {
      if (!integrationIds.includes(small.integrationId)) return;
      looking.push(
        dueOf(large).then((count) => {
          left ??= count;
        }),
      );
    };
    assert.equal(await refreshDue({ ...world.channel, onEvents }), MANY + FEW);
    await Promise.all(looking);
    assert.ok(left !== null && left > MANY / 2, `of the other dealer’s ${MANY} only ${left} were left`);
    assert.deepEqual([await dueOf(large), await dueOf(small)], [0, 0]);
  });

  it('of many channels of one dealer come in turns, too: a turn is some transactions, each for one channel', async () => {
    const large = await world.dealer();
    const channels = [large.integrationId];
    while (channels.length < CHANNELS) channels.push((await addShop(world, large)).integrationId);
    await fallDue(large, 1, 60);
    await world.db.query(sql`
      insert into channel_documents (integration_id, api_version, item_id, kind, status, quantity, document, is_unpriceable,
        valid_until, renderer, updated_at)
      select i.id, d.api_version, d.item_id, kind, d.status, quantity, document, is_unpriceable, valid_until, renderer, d.updated_at
      from channel_documents d cross join integrations i
      where d.integration_id = ${large.integrationId} and d.valid_until <= now()
        and i.id = any(${channels}::text[]) and i.id <> d.integration_id`);
    const small = await world.dealer();
    await fallDue(small, 1, 1);
    const order: string[] = [];
    const onEvents = (integrationIds: string[]) => void order.push(...integrationIds);
    assert.equal(await refreshDue({ ...world.channel, onEvents }), CHANNELS + 1);
    assert.deepEqual(order.toSorted(), [...channels, small.integrationId].sort());
    const before = order.indexOf(small.integrationId);
    assert.ok(before <= TURN_TRANSACTIONS, `${before} transactions of the other dealer came first`);
  });

  it('are found by index, whatever is due on other channels', async () => {
    const [large, small] = [await world.dealer(), await world.dealer()];
    await fallDue(large, 50_000, 60);
    await fallDue(small, 1, 1);
    await world.db.query(sql`analyze channel_documents`);
    const reads = await explainRead(world.db, async (db) => {
      await refreshDueOf({ ...world.channel, db: { ...world.db, query: db.query } }, small.integrationId);
    });
    const signal = AbortSignal.abort();
    assert.equal(await refreshDue(world.channel, signal), 0);
    const found = await explainRead(world.db, async (db) => {
      const stop = new AbortController();
      const query: typeof db.query = async (statement) => {
        const rows = await db.query(statement);
        // After the list of the channels and what is due on the first of them.
        if (statement.text.includes('lateral')) stop.abort();
        return rows as never;
      };
      await refreshDue({ ...world.channel, db: { ...world.db, query } }, stop.signal);
    });
    assert.equal(reads.length, 1);
    assert.equal(found.length, 2);
    for (const { pages, text } of [...reads, ...found]) assert.ok(pages < 500, `${pages} pages: ${text}`);
  });
});
