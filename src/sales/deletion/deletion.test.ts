import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { cloneDatabase } from '../../../test/harness/database/database.ts';
import { changing, holdLock, pauseCommits, until, untilBlocked } from '../../../test/harness/database/locks.ts';
import { fillEvents } from '../../../test/harness/database/many-rows.ts';
import { countRoundTrips } from '../../../test/harness/database/round-trips.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { addShop, freshKey, openShop } from '../../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { deleteIntegration, deleteOrganization, listDeletions } from '../../dealers/deletions.ts';
import { setOrganization } from '../../dealers/integrations/attach-integration.ts';
import { createIntegration, findIntegration } from '../../dealers/integrations/integrations.ts';
import { rotateApiKey } from '../../dealers/integrations/rotate-api-key.ts';
import { findOrganization, setPlan } from '../../dealers/organizations.ts';
import { createUser } from '../../dealers/users/users.ts';
import { newId } from '../../ids/new-id.ts';
import { setPublished } from '../../inventory/publications.ts';
import { reserveUnits } from '../../inventory/units/movements.ts';
import { setUrl } from '../../webhooks/endpoints/endpoint-settings.ts';
import { createSecretEncryption } from '../../webhooks/endpoints/secret-encryption.ts';
import { createSsrfGuard } from '../../webhooks/sending/ssrf-guard.ts';
import { cancelSale, confirmOrder, dismissOrder, fulfilOrder, matchLine } from '../orders/order-operations.ts';
import { INTEGRATION_STEPS, ORGANIZATION_STEPS, rowsOfOwner } from './deletion-steps.ts';
import { runDeletions } from './run-deletions.ts';

const WEBHOOKS = {
  guard: createSsrfGuard(true),
  encryption: createSecretEncryption(['a secret key for tests, long enough to be one']),
};
const PASSWORD = 'a long test password';
const KEY = freshKey();

describe('deleting an integration', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const run = () => runDeletions(world.channel, undefined, 0);

  /** The tables that still have rows of an integration. */
  async function rowsLeft(integrationId: string): Promise<string[]> {
    const found = await Promise.all(
      INTEGRATION_STEPS.map((step) => world.db.query(sql`select 1 ${rowsOfOwner(step, integrationId)} limit 1`)),
    );
    return INTEGRATION_STEPS.filter((_, index) => found[index]?.length !== 0).map((step) => step.table);
  }

  it('waits for one turn of another dealer, and not for all that the other has deleted', async () => {
    const many = await openShop(world);
    const shops = [many, await addShop(world, many), await addShop(world, many)];
    const neighbour = await openShop(world);
    for (const shop of [...shops, neighbour]) {
      await publishNew(world, shop, watch());
      await deleteIntegration(world.db, TESTER, shop.integrationId);
    }
    await run();
    const rows = await world.db.query<{ id: string }>(sql`
      select integration_id as id from deletion_jobs
      where integration_id = any(${[...shops, neighbour].map(({ integrationId }) => integrationId)}::text[])
      order by finished_at`);
    assert.equal(rows.length, 4);
    assert.notEqual(rows.at(-1)?.id, neighbour.integrationId);
  });

  it('goes on in its next turn where the last one ended', async () => {
    const shop = await openShop(world);
    // Six batches, which are two turns.
    await fillEvents(world.db, shop, 6_000);
    await deleteIntegration(world.db, TESTER, shop.integrationId);
    const trips = countRoundTrips(world.db);
    await run();
    trips.stop();
    assert.deepEqual(await rowsLeft(shop.integrationId), []);
    const looks = trips.all().filter((trip) => trip.some((text) => text.includes('delete from delivery_attempts')));
    assert.equal(looks.length, 1);
  });

  it('frees what its orders held, and nothing else; the dealer’s other channels show it', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    const listingId = await publishNew(world, shop, watch());
    const partId = await publishNew(world, shop, part({ units: 10 }));
    const soldId = await publishNew(world, shop, watch());
    await setPublished(
      world.channel,
      TESTER,
      shop.organizationId,
      sibling.integrationId,
      [listingId, partId, soldId],
      true,
    );
    await reserveUnits(world.channel, TESTER, shop.organizationId, partId, 1);
    const lines = [{ listing_id: listingId }, { part_id: partId, quantity: 2 }];
    await shop.post('/v1/orders', { channel_order_id: 'SO-1', lines });
    await shop.post('/v1/orders', { channel_order_id: 'SO-2', lines: [{ part_id: partId, quantity: 3 }] });
    await sibling.post('/v1/orders', { channel_order_id: 'SO-1', lines: [{ part_id: partId }] });
    const sold = await shop.post('/v1/orders', { channel_order_id: 'SO-3', lines: [{ listing_id: soldId }] });
    await confirmOrder(world.channel, TESTER, shop.organizationId, sold.body.id);
    assert.equal((await sibling.api.get(`/v1/parts/${partId}`)).body.quantity, 3);

    assert.equal(await deleteIntegration(world.db, TESTER, shop.integrationId), true);
    assert.equal((await shop.api.get('/v1/me')).status, 401);
    await run();
    assert.equal((await sibling.api.get(`/v1/listings/${listingId}`)).body.status, 'active');
    assert.equal((await sibling.api.get(`/v1/parts/${partId}`)).body.quantity, 8);
    assert.equal((await sibling.api.get(`/v1/listings/${soldId}`)).body.status, 'sold');
    const sales = await world.db.query(sql`select status from sales where organization_id = ${shop.organizationId}`);
    assert.deepEqual(sales, [{ status: 'completed' }]);
  });

  it('takes what its tests left with the dealer, and nothing that is live or that another integration knows', async () => {
    const shop = await openShop(world, { isTestMode: true });
    const sibling = await addShop(world, shop, { isTestMode: true });
    const itemId = await publishNew(world, shop, watch());
    const line = { title: 'By hand' };
    const confirm = async ({ body }: { body: { id: string; lines: { id: string }[] } }) => {
      const choice = { itemId, lineId: body.lines[0]?.id ?? '' };
      await matchLine(world.channel, TESTER, shop.organizationId, body.id, choice);
      await confirmOrder(world.channel, TESTER, shop.organizationId, body.id);
    };
    await shop.post('/v1/customers', { email: 'own@b.ch' });
    await shop.post('/v1/customers', { email: 'both@b.ch' });
    await sibling.post('/v1/customers', { email: 'both@b.ch' });
    const voided = await shop.post('/v1/orders', { channel_order_id: 'SO-1', lines: [line] });
    await confirm(voided);
    await cancelSale(world.channel, TESTER, shop.organizationId, voided.body.id);
    const buyer = { email: 'buyer@b.ch' };
    await confirm(await shop.post('/v1/orders', { channel_order_id: 'SO-2', customer: buyer, lines: [line] }));
    await confirm(await sibling.post('/v1/orders', { channel_order_id: 'SO-2', lines: [line] }));
    await world.db.query(sql`update integrations set is_test_mode = false where id = ${shop.integrationId}`);
    const live = await shop.post('/v1/orders', {
      channel_order_id: 'SO-3',
      customer: { email: 'live@b.ch' },
      lines: [line],
    });
    await confirm(live);

    await deleteIntegration(world.db, TESTER, shop.integrationId);
    await run();
    const sales = await world.db.query(sql`
      select channel, is_test from sales where organization_id = ${shop.organizationId} order by is_test`);
    assert.deepEqual(sales, [
      { channel: shop.integrationId, is_test: false },
      { channel: sibling.integrationId, is_test: true },
    ]);
    const customers = await world.db.query(sql`
      select email, is_test from customers where organization_id = ${shop.organizationId} order by email`);
    assert.deepEqual(customers, [
      { email: 'both@b.ch', is_test: true },
      { email: 'live@b.ch', is_test: false },
    ]);
    const [job] = await listDeletions(world.db, shop.organizationId, 1);
    assert.equal(job?.done, job?.total);
    assert.deepEqual(await rowsLeft(shop.integrationId), []);
  });

  it('takes a test customer with the order that came in meanwhile', async () => {
    const shop = await openShop(world, { isTestMode: true });
    await shop.post('/v1/customers', { email: 'late@b.ch' });
    const report = { channel_order_id: 'SO-1', customer: { email: 'late@b.ch' } };
    const { body } = await shop.post('/v1/orders', report);
    // As if it came after the step that removes the orders: it is locked, and passed over.
    const change = await changing(world.db, body.id);
    await deleteIntegration(world.db, TESTER, shop.integrationId);
    const running = run();
    await until(async () => (await rowsLeft(shop.integrationId)).join() === 'orders,test_customers', 'more is left');
    await change.end();
    await running;
    const customers = await world.db.query(sql`
      select id from customers where organization_id = ${shop.organizationId}`);
    assert.deepEqual(customers, []);
  });

  it('goes well while orders come in: no unit stays held for an order that is gone', async () => {
    const shop = await openShop(world);
    const ids = [
      await publishNew(world, shop, part({ units: 1_000 })),
      await publishNew(world, shop, part({ units: 9 })),
    ];
    const orders = Array.from({ length: 40 }, (_, index) =>
      shop.post('/v1/orders', { channel_order_id: `SO-${index}`, lines: [{ part_id: ids[index % 2] }] }),
    );
    await orders[0];
    await deleteIntegration(world.db, TESTER, shop.integrationId);
    await run();
    await Promise.all(orders);
    await run();
    const held = await world.db.query(sql`
      select reserved_units from items where id = any(${ids}::text[])`);
    assert.deepEqual(held, [{ reserved_units: 0 }, { reserved_units: 0 }]);
  });

  it('passes over an order under change, and removes it when the change is done', async () => {
    const shop = await openShop(world);
    const { body } = await shop.post('/v1/orders', { channel_order_id: 'SO-1', lines: [{ title: 'Holds nothing' }] });
    const change = await changing(world.db, body.id);
    await deleteIntegration(world.db, TESTER, shop.integrationId);
    const running = run();
    await change.takeClock(shop.integrationId);
    await change.end();
    await running;
    assert.deepEqual(await rowsLeft(shop.integrationId), []);
  });

  it('leaves its orders to the dealer until they are removed, and tells nobody of them', async () => {
    const shop = await openShop(world);
    const listingId = await publishNew(world, shop, watch({ units: 2 }));
    const report = async (name: string) => {
      const order = { channel_order_id: name, lines: [{ listing_id: listingId }] };
      return (await shop.post('/v1/orders', order)).body.id;
    };
    const [dismissed, fulfilled] = [await report('SO-1'), await report('SO-2')];
    await confirmOrder(world.channel, TESTER, shop.organizationId, fulfilled);
    await deleteIntegration(world.db, TESTER, shop.integrationId);
    const { status } = await dismissOrder(world.channel, TESTER, shop.organizationId, dismissed, null);
    assert.equal(status, 'cancelled');
    assert.equal((await fulfilOrder(world.channel, TESTER, shop.organizationId, fulfilled)).status, 'fulfilled');
    const told = await world.db.query(sql`
      select type from events where integration_id = ${shop.integrationId} and type like 'order.%'`);
    assert.deepEqual(told, []);
    await run();
    assert.deepEqual(await rowsLeft(shop.integrationId), []);
    const stock = await world.db.query(sql`select units, reserved_units from items where id = ${listingId}`);
    assert.deepEqual(stock, [{ units: 1, reserved_units: 0 }]);
  });

  it('removes an order that was on its way when the key became unknown, and frees what it took', async () => {
    const shop = await openShop(world);
    const partId = await publishNew(world, shop, part());
    const stock = await holdLock(world.db, 'select 1 from items where id = $1 for update', [partId]);
    const report = shop.post('/v1/orders', { channel_order_id: 'SO-1', lines: [{ part_id: partId }] });
    await untilBlocked(world.db);
    await deleteIntegration(world.db, TESTER, shop.integrationId);
    const running = run();
    await stock.release();
    await report;
    await running;
    assert.deepEqual(await rowsLeft(shop.integrationId), []);
    const held = await world.db.query(sql`select reserved_units from items where id = ${partId}`);
    assert.deepEqual(held, [{ reserved_units: 0 }]);
  });

  it('makes it unknown to every command at once, and the job is listed with its progress', async () => {
    const shop = await openShop(world);
    await publishNew(world, shop, watch());
    const id = shop.integrationId;
    await deleteIntegration(world.db, TESTER, id);
    assert.equal(await findIntegration(world.db, id), null);
    assert.equal(await rotateApiKey(world.db, TESTER, id), null);
    assert.equal(await setOrganization(world.db, TESTER, id, shop.organizationId), false);
    assert.equal(await setUrl(world.db, TESTER, WEBHOOKS, id, null), null);
    const [waiting] = await listDeletions(world.db, shop.organizationId, 10);
    assert.partialDeepStrictEqual(waiting, { integrationId: id, status: 'pending', done: 0, total: null });
    await run();
    const [done] = await listDeletions(world.db, shop.organizationId, 10);
    // A document, a publication and an event.
    assert.partialDeepStrictEqual(done, { status: 'done', done: 3, total: 3, error: null });
    assert.deepEqual(await rowsLeft(id), []);
    const rows = await world.db.query(sql`select id from integrations where id = ${id}`);
    assert.deepEqual(rows, []);
  });

  it('answers false for an unknown one, and for one that is deleted already', async () => {
    const shop = await openShop(world);
    assert.equal(await deleteIntegration(world.db, TESTER, newId('integration')), false);
    assert.equal(await deleteIntegration(world.db, TESTER, shop.integrationId), true);
    assert.equal(await deleteIntegration(world.db, TESTER, shop.integrationId), false);
  });

  it('stops with the service and goes on where it was', async () => {
    const shop = await openShop(world);
    await publishNew(world, shop, watch());
    await deleteIntegration(world.db, TESTER, shop.integrationId);
    const stopping = new AbortController();
    const stopped = runDeletions(world.channel, stopping.signal, 0);
    stopping.abort();
    await stopped;
    const [job] = await listDeletions(world.db, shop.organizationId, 1);
    assert.notEqual(job?.status, 'done');
    await run();
    assert.deepEqual(await rowsLeft(shop.integrationId), []);
  });
});

describe('deleting an organization', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('makes its keys unknown and signs its users out at once; then all of it is removed, and no other dealer’s', async () => {
    const dealer = await world.dealer();
    const { organizationId, userId, integrationId } = dealer;
    const detached = await addShop(world, dealer);
    await setOrganization(world.db, TESTER, detached.integrationId, null);
    const neighbour = await openShop(world);
    const kept = await publishNew(world, neighbour, watch());
    const itemId = await publishNew(world, dealer, watch());
    await dealer.api.post('/v1/orders', { channel_order_id: 'SO-1', lines: [{ listing_id: itemId }] }, KEY);
    await world.db.query(sql`
      insert into sessions (id, user_id, token, expires_at) values (${newId('event')}, ${userId}, ${newId('event')}, now())`);

    assert.equal(await deleteOrganization(world.db, TESTER, organizationId), true);
    for (const api of [dealer.api, detached.api]) assert.equal((await api.get('/v1/me')).status, 401);
    const signedIn = await world.db.query(sql`
      select user_id from sessions where user_id = ${userId} union all
      select user_id from accounts where user_id = ${userId}`);
    assert.deepEqual(signedIn, []);
    assert.equal(await findOrganization(world.db, organizationId), null);
    assert.equal(await setPlan(world.db, TESTER, organizationId, true), false);
    const input = { organizationId, userId: null, name: 'Late', currency: 'USD', isTestMode: false };
    await assertRefused(createIntegration(world.db, TESTER, input), 'not_found');
    await assertRefused(
      createUser(world.db, TESTER, { organizationId, name: 'Late', email: 'l@l.ch', password: PASSWORD }),
      'not_found',
    );
    assert.equal(await deleteOrganization(world.db, TESTER, organizationId), false);

    await runDeletions(world.channel, undefined, 0);
    for (const step of ORGANIZATION_STEPS) {
      assert.deepEqual(await world.db.query(sql`select 1 ${rowsOfOwner(step, organizationId)}`), [], step.table);
    }
    const left = await world.db.query(sql`
      select id from organizations where id = ${organizationId} union all
      select id from integrations where id = any(${[integrationId, detached.integrationId]}::text[])`);
    assert.deepEqual(left, []);
    const [job] = await listDeletions(world.db, organizationId, 1);
    assert.partialDeepStrictEqual(job, { integrationId: null, status: 'done', error: null });
    assert.equal((await neighbour.api.get(`/v1/listings/${kept}`)).status, 200);
  });

  it('goes well beside the deletion of one of its integrations', async () => {
    const shop = await openShop(world);
    const sibling = await addShop(world, shop);
    for (const one of [shop, sibling]) await publishNew(world, one, watch());
    await deleteIntegration(world.db, TESTER, sibling.integrationId);
    await deleteOrganization(world.db, TESTER, shop.organizationId);
    await Promise.all([1, 2].map(() => runDeletions(world.channel, undefined, 0)));
    const jobs = await listDeletions(world.db, shop.organizationId, 10);
    assert.deepEqual(
      jobs.map((job) => job.status),
      ['done', 'done'],
    );
  });

  it('waits for an integration that is being attached to it, and takes it along', async () => {
    const shop = await openShop(world);
    const joining = await openShop(world);
    const held = pauseCommits(world.db);
    const attaching = setOrganization(held.db, TESTER, joining.integrationId, shop.organizationId);
    await held.reached;
    const deleting = deleteOrganization(world.db, TESTER, shop.organizationId);
    await untilBlocked(world.db);
    held.release();
    await attaching;
    await deleting;
    assert.equal((await joining.api.get('/v1/me')).status, 401);
  });
});

describe('every table', () => {
  /** They have a few rows for each owner, so they go with the owner's own row. */
  const SMALL = new Set([
    'channel_clocks',
    'channel_jobs',
    'integration_usage',
    'integrations',
    'mail_counts',
    'organization_storage_usage',
    'rate_windows',
    'replay_jobs',
    'sign_in_links',
    'storage_usage',
    'webhook_endpoints',
    'webhook_secrets',
    'webhook_switches',
  ]);

  it('that names an integration or an organization is removed in batches, or is known to be small', async (t) => {
    const { db, drop } = await cloneDatabase();
    t.after(drop);
    const rows = await db.query<{ child: string; parent: string }>(sql`
      select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint
      where contype = 'f' and confrelid in ('integrations'::regclass, 'organizations'::regclass)`);
    assert.ok(rows.length > 10);
    for (const { child, parent } of rows) {
      const steps = parent === 'integrations' ? INTEGRATION_STEPS : [...INTEGRATION_STEPS, ...ORGANIZATION_STEPS];
      const isKnown = SMALL.has(child) || steps.some((step) => step.table === child);
      assert.ok(isKnown, `${child} refers to ${parent}: add it to deletion-steps.ts, or here if it is small`);
    }
  });
});
