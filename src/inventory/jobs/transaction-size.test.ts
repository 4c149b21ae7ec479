import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { importText } from '../../../test/harness/jobs/stock-files.ts';
import { runJobs } from '../../../test/harness/jobs/stock-jobs.ts';
import { addShop, openShop } from '../../../test/harness/shop.ts';
import { watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { DOCUMENTS_LIMIT } from '../../channel/projection/projection-budget.ts';
import { sql } from '../../db/sql.ts';
import { deleteIntegration } from '../../dealers/deletions.ts';
import { runDeletions } from '../../sales/deletion/run-deletions.ts';
import { expireDueReservations } from '../../sales/reservations/expire-reservations.ts';
import { createItem, setHidden } from '../items/item-operations.ts';
import { setPublished } from '../publications.ts';
import type { BulkChange } from './bulk-change.ts';
import { findJob, startJob, undoJob } from './stock-job-queue.ts';

const CHANNELS = 20;
const ITEMS = 30;
const DOCUMENTS = CHANNELS * ITEMS;
const LONG_TEXT = 'A watch. '.repeat(2_200);
/** Of 20 documents of 20 KB each. */
const LONG_ITEMS_LIMIT = 10;

describe('a change of many items on many channels', () => {
  let world: World;
  let organizationId: string;
  let integrationIds: string[];
  const ids: string[] = [];
  before(async () => {
    world = await startWorld();
    const first = await openShop(world);
    organizationId = first.organizationId;
    integrationIds = [first.integrationId];
    while (integrationIds.length < CHANNELS) integrationIds.push((await addShop(world, first)).integrationId);
    for (let index = 0; index < ITEMS; index++) {
      ids.push(await createItem(world.channel, TESTER, organizationId, watch({ stockNumber: `W-${index}` })));
    }
    for (const integrationId of integrationIds) {
      await setPublished(world.channel, TESTER, organizationId, integrationId, ids, true);
    }
  });
  after(() => world.stop());

  /** How many events each transaction of some work recorded. */
  async function eventsByTransaction(work: () => Promise<unknown>): Promise<number[]> {
    const [last] = await world.db.query<{ id: string }>(sql`select max(id) as id from events`);
    await work();
    const rows = await world.db.query<{ count: number }>(sql`
      select count(*)::integer as count from events where id > ${last?.id ?? ''} group by xmin::text order by min(id)`);
    return rows.map(({ count }) => count);
  }

  async function assertBounded(work: () => Promise<unknown>, events = DOCUMENTS): Promise<void> {
    const counts = await eventsByTransaction(work);
    const sum = counts.reduce((all, count) => all + count, 0);
    assert.equal(sum, events, 'an event for each document');
    assert.ok(counts.length > 1 && Math.max(...counts) <= DOCUMENTS_LIMIT, JSON.stringify(counts));
  }

  async function change(change: BulkChange, itemIds: string[]): Promise<string> {
    const parameters = { selection: { itemIds }, change };
    const id = await startJob(world.db, TESTER, {
      organizationId,
      kind: 'bulk_change',
      title: '',
      parameters,
      isUndoable: true,
    });
    await runJobs(world);
    assert.partialDeepStrictEqual(await findJob(world.db, organizationId, id), {
      status: 'done',
      done: itemIds.length,
    });
    return id;
  }

  const raise: BulkChange = { action: 'change_price', basisPoints: 100, amount: null, roundTo: null };

  it('is several transactions as a bulk change, and as its undo', async () => {
    let id = '';
    await assertBounded(async () => {
      id = await change(raise, ids);
    });
    await assertBounded(async () => {
      await undoJob(world.db, TESTER, organizationId, id, { isCostAllowed: true });
      await runJobs(world);
    });
  });

  it('is several transactions as an import', async () => {
    const lines = ids.map((_, index) => `W-${index},${5_000 + index}`);
    await assertBounded(() => importText(world, organizationId, ['stock_number,price', ...lines].join('\n')));
  });

  it('is several transactions where people hide items, and show them again', async () => {
    await assertBounded(() => setHidden(world.channel, TESTER, organizationId, ids, true));
    await assertBounded(() => setHidden(world.channel, TESTER, organizationId, ids, false));
  });

  it('is a transaction for few items if their texts are long', async () => {
    const some = ids.slice(0, LONG_ITEMS_LIMIT + 5);
    await world.db.query(sql`update items set description = ${LONG_TEXT} where id = any(${some}::text[])`);
    const counts = await eventsByTransaction(() => change(raise, some));
    assert.ok(counts.length > 1 && Math.max(...counts) <= LONG_ITEMS_LIMIT * CHANNELS, JSON.stringify(counts));
  });

  /** A reservation of each item by one client. */
  async function reserve(integrationId: string): Promise<void> {
    await world.db.query(sql`
      insert into reservations (integration_id, id, organization_id, is_test, kind, item_id, units, status, expires_at,
        created_at, updated_at)
      select ${integrationId}, 'rsv_' || id, organization_id, false, kind, id, 1, 'active', now() - interval '1 minute', now(), now()
      from items where id = any(${ids}::text[])`);
    await world.db.query(sql`update items set reserved_units = 1 where id = any(${ids}::text[])`);
    // As the clients saw it.
    await world.db.query(
      sql`update channel_documents set quantity = 0, document = replace(document, '"quantity":1', '"quantity":0')`,
    );
  }

  it('is several transactions when reservations end, by their time or with their integration', async () => {
    const [gone = '', stays = ''] = integrationIds;
    await reserve(stays);
    const expired = await eventsByTransaction(() => expireDueReservations(world.channel));
    assert.ok(expired.length > 1 && Math.max(...expired) <= DOCUMENTS_LIMIT, JSON.stringify(expired));
    await world.db.query(sql`delete from reservations`);
    await reserve(gone);
    await deleteIntegration(world.db, TESTER, gone);
    const deleted = await eventsByTransaction(() => runDeletions(world.channel, undefined, 0));
    assert.ok(deleted.length > 1 && Math.max(...deleted) <= DOCUMENTS_LIMIT, JSON.stringify(deleted));
    assert.deepEqual(await world.db.query(sql`select id from items where reserved_units <> 0`), []);
  });
});
