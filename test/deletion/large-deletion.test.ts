import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../src/db/sql.ts';
import { deleteIntegration, deleteOrganization, listDeletions } from '../../src/dealers/deletions.ts';
import { runDeletions } from '../../src/sales/deletion/run-deletions.ts';
import { TESTER } from '../harness/actor.ts';
import { cloneDatabase } from '../harness/database/database.ts';
import { openShop } from '../harness/shop.ts';
import { publishNew, watch } from '../harness/stock.ts';
import { startWorld, type World } from '../harness/world.ts';
import { fillWithRows } from './bulk-rows.ts';

/** One statement for all of these takes several seconds. */
const EVENTS = 100_000;
const STATEMENT_TIMEOUT_MS = 2_000;

describe('a deletion of hundreds of thousands of rows', () => {
  let world: World;
  before(async () => {
    const database = await cloneDatabase({ statementTimeoutMs: STATEMENT_TIMEOUT_MS });
    world = await startWorld({ database });
  });
  after(() => world.stop());

  it('of an integration goes through under a low statement timeout, and its key is unknown at once', async () => {
    const shop = await openShop(world);
    await fillWithRows(world.database.address, shop, { events: EVENTS, orders: 2_000, items: 2_000, customers: 0 });
    assert.equal(await deleteIntegration(world.db, TESTER, shop.integrationId), true);
    assert.equal((await shop.api.get('/v1/me')).status, 401);
    await runDeletions(world.channel, undefined, 0);
    const [job] = await listDeletions(world.db, shop.organizationId, 1);
    const rows = 2 * EVENTS + 2 * 2_000;
    assert.partialDeepStrictEqual(job, { status: 'done', done: rows, total: rows, error: null });
    const [held] = await world.db.query(sql`
      select count(*) as items, sum(reserved_units) as units from items where organization_id = ${shop.organizationId}`);
    assert.deepEqual(held, { items: 2_000, units: 0 });
  });

  it('of an organization goes through too, while another dealer reads and writes', async () => {
    const shop = await openShop(world);
    const neighbour = await openShop(world);
    const listingId = await publishNew(world, neighbour, watch());
    await fillWithRows(world.database.address, shop, {
      events: EVENTS / 2,
      orders: 2_000,
      items: 10_000,
      customers: 20_000,
    });
    assert.equal(await deleteOrganization(world.db, TESTER, shop.organizationId), true);
    assert.equal((await shop.api.get('/v1/me')).status, 401);
    let isRunning = true;
    const running = runDeletions(world.channel, undefined, 0).finally(() => {
      isRunning = false;
    });
    let requests = 0;
    while (isRunning) {
      requests += 1;
      assert.equal((await neighbour.api.get(`/v1/listings/${listingId}`)).status, 200);
      assert.equal((await neighbour.post('/v1/customers', { external_id: `c${requests}` })).status, 201);
    }
    await running;
    assert.ok(requests > 10);
    const left = await world.db.query(sql`select id from organizations where id = ${shop.organizationId}`);
    assert.deepEqual(left, []);
    const [job] = await listDeletions(world.db, shop.organizationId, 1);
    assert.partialDeepStrictEqual(job, { status: 'done', error: null });
  });
});
