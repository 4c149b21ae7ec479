import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { runJobs } from '../../../../../test/harness/jobs/stock-jobs.ts';
import { part, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { COMMAND_LINE } from '../../../../audit/actor.ts';
import { sql } from '../../../../db/sql.ts';
import { listChannels } from '../../../../dealers/integrations/integrations.ts';
import { createItem } from '../../../../inventory/items/item-operations.ts';
import { createBusinessUnit, createLocation } from '../../../../inventory/locations.ts';

type Person = Awaited<ReturnType<typeof signedIn>>;
type Item = { price: number | null; isHidden: boolean; locationId: string | null; channels: number };

describe('bulk changes of stock', () => {
  let world: World;
  let owner: Person;
  let staff: Person;
  let integrationId: string;
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    integrationId = (await listChannels(world.db, owner.organizationId))[0]?.id ?? '';
  });
  after(() => world.stop());

  const make = (brand: string, prices: (number | null)[], { organizationId } = owner) =>
    Promise.all(
      prices.map((priceAmount) =>
        createItem(
          world.channel,
          COMMAND_LINE,
          organizationId,
          watch({ priceAmount, attributes: { ...watch().attributes, brand } }),
        ),
      ),
    );
  const read = async (ids: string[]): Promise<Item[]> =>
    await world.db.query<Item>(sql`
      select price_amount as price, is_hidden as "isHidden", location_id as "locationId", channel_count as channels
      from unnest(${ids}::text[]) with ordinality as wanted (id, position) join items i on i.id = wanted.id
      order by position`);
  const prices = async (ids: string[]) => (await read(ids)).map(({ price }) => price);
  /** Starts a job, runs it as the worker does, and reads its end. */
  const run = async (person: Person, path: string, body: object) => {
    const answer = await person.call('POST', path, body);
    assert.equal(answer.status, 200, answer.text);
    await runJobs(world);
    return (await person.call('GET', `/jobs/${answer.body.job_id}`)).body.job;
  };
  const change = (body: object) => run(staff, '/stock/bulk', body);

  it('publish, hide, show, take off and set the location of what was selected, and undo it', async () => {
    const ids = await make('Picked', [100, 200]);
    const [untouched = ''] = await make('Picked', [300]);
    const unitId = await createBusinessUnit(world.db, COMMAND_LINE, owner.organizationId, 'Shop');
    const locationId = await createLocation(world.db, COMMAND_LINE, owner.organizationId, unitId, 'Window');
    const published = await change({ item_ids: ids, action: 'publish', integration_id: integrationId });
    assert.equal(published.status, 'done');
    assert.equal(published.total, 2);
    assert.equal(published.counts.changed, 2);
    assert.match(published.title, /^Publish on /);
    await change({ item_ids: ids, action: 'hide' });
    const moved = await change({ item_ids: ids, action: 'set_location', location_id: locationId });
    for (const item of await read(ids)) {
      assert.deepEqual([item.channels, item.isHidden, item.locationId], [1, true, locationId]);
    }
    const undone = await run(staff, `/jobs/${moved.id}/undo`, {});
    assert.equal(undone.status, 'done');
    await change({ item_ids: ids, action: 'show' });
    await change({ item_ids: ids, action: 'unpublish', integration_id: integrationId });
    for (const item of await read([...ids, untouched])) {
      assert.deepEqual([item.channels, item.isHidden, item.locationId], [0, false, null]);
    }
  });

  it('change prices by percent or amount, rounded, of all that match; what is on request stays', async () => {
    const ids = await make('Priced', [100_000, 99_999, null]);
    const [other = ''] = await make('Unpriced', [100_000]);
    const filter = { kind: 'listing', brand: 'Priced' };
    assert.equal((await staff.call('POST', '/stock/bulk/count', { filter })).body.count, 3);
    const job = await change({ filter, action: 'change_price', price: { basis_points: 115 } });
    assert.deepEqual(await prices(ids), [101_150, 101_149, null]);
    assert.equal(job.counts.changed, 2);
    assert.equal(job.title, 'Change price by +1.15 %');
    await change({ filter, action: 'change_price', price: { amount: -1_149, round_to: 100 } });
    assert.deepEqual(await prices(ids), [100_000, 100_000, null]);
    await change({ filter, action: 'change_price', price: { basis_points: -500, round_to: 10_000 } });
    assert.deepEqual(await prices(ids), [100_000, 100_000, null]);
    assert.deepEqual(await prices([other]), [100_000]);
  });

  it('make no item free by their rounding', async () => {
    const ids = await make('Cheap', [3_000, 14_900, 0]);
    const price = { basis_points: -1_000, round_to: 10_000 };
    await change({ item_ids: ids, action: 'change_price', price });
    assert.deepEqual(await prices(ids), [10_000, 10_000, 0]);
    const below = await change({ item_ids: ids, action: 'change_price', price: { amount: -10_001, round_to: 50_000 } });
    assert.deepEqual(await prices(ids), [10_000, 10_000, 0]);
    assert.equal(below.counts.wrong, 3);
  });

  it('name the items that they refuse, and change the others', async () => {
    const ids = await make('Low', [500, 5_000]);
    const job = await change({ item_ids: ids, action: 'change_price', price: { amount: -1_000 } });
    assert.deepEqual(await prices(ids), [500, 4_000]);
    assert.equal(job.counts.wrong, 1);
    const { errors } = (await staff.call('GET', `/jobs/${job.id}`)).body;
    assert.equal(errors[0].item_id, ids[0]);
    assert.equal(errors[0].message, 'The price would be below zero.');
  });

  it('leave alone what came later than the click', async () => {
    const ids = await make('Timely', [100]);
    const answer = await staff.call('POST', '/stock/bulk', {
      filter: { kind: 'listing', brand: 'Timely' },
      action: 'hide',
    });
    const [late = ''] = await make('Timely', [100]);
    await runJobs(world);
    assert.deepEqual(
      (await read([...ids, late])).map(({ isHidden }) => isHidden),
      [true, false],
    );
    assert.equal((await staff.call('GET', `/jobs/${answer.body.job_id}`)).body.job.total, 1);
  });

  it('delete for ever by owners only, with the number that was confirmed, and never undo it', async () => {
    const ids = await make('Doomed', [100, 200]);
    const filter = { kind: 'listing', brand: 'Doomed' };
    assert.equal((await staff.call('POST', '/stock/bulk/delete', { filter, count: 2 })).status, 403);
    const refused = await owner.call('POST', '/stock/bulk/delete', { filter, count: 1 });
    assert.equal(refused.status, 409);
    assert.equal(refused.body.error.code, 'changed_meanwhile');
    const job = await run(owner, '/stock/bulk/delete', { filter, count: 2 });
    assert.equal(job.counts.removed, 2);
    assert.equal(job.can_undo, false);
    assert.deepEqual(await read(ids), []);
    assert.equal((await owner.call('POST', `/jobs/${job.id}/undo`)).status, 409);
    const audit = await world.db.query<{ action: string; objects: number }>(sql`
      select a.action, (select count(*)::integer from audit_log_objects o where o.audit_id = a.id) as objects
      from audit_log a where a.organization_id = ${owner.organizationId} and a.action = 'stock.bulk_deleted'`);
    assert.deepEqual(audit, [{ action: 'stock.bulk_deleted', objects: 2 }]);
  });

  it('answer wrong input with the field, and things of another dealer as things that never were', async () => {
    const stranger = await signedIn(world);
    const [foreign = ''] = await make('Foreign', [100], stranger);
    const [own = ''] = await make('Own', [100]);
    const [channel] = await listChannels(world.db, stranger.organizationId);
    const base = { item_ids: [own] };
    for (const [body, status, field] of [
      [{ action: 'hide' }, 400, 'item_ids'],
      [{ ...base, filter: { kind: 'listing' }, action: 'hide' }, 400, 'item_ids'],
      [{ ...base, action: 'melt' }, 400, 'action'],
      [{ ...base, action: 'change_price' }, 400, 'price'],
      [{ ...base, action: 'change_price', price: { basis_points: 5, amount: 5 } }, 400, 'price'],
      [{ ...base, action: 'publish' }, 404, 'integration_id'],
      [{ ...base, action: 'publish', integration_id: channel?.id }, 404, 'integration_id'],
      [{ ...base, action: 'set_location', location_id: 'loc_x' }, 404, 'location_id'],
      [{ item_ids: [own, foreign], action: 'hide' }, 404, 'item_ids'],
    ] as [object, number, string][]) {
      const answer = await staff.call('POST', '/stock/bulk', body);
      assert.equal(answer.status, status, `${JSON.stringify(body)}: ${answer.text}`);
      assert.equal(answer.body.error.field, field, JSON.stringify(body));
    }
    assert.equal((await read([foreign]))[0]?.isHidden, false);
  });

  it('are begun once by an attempt that comes again, also at the same moment', async () => {
    const ids = await make('Again', [10_000]);
    const price = { amount: 1_000 };
    const body = { item_ids: ids, action: 'change_price', price, attempt: crypto.randomUUID() };
    const answers = await Promise.all([1, 2, 3].map(() => staff.call('POST', '/stock/bulk', body)));
    assert.equal(answers[0]?.status, 200, answers[0]?.text ?? '');
    assert.equal(new Set(answers.map((answer) => answer.body.job_id)).size, 1);
    await runJobs(world);
    assert.deepEqual(await prices(ids), [11_000]);
    await change({ ...body, attempt: 'another' });
    assert.deepEqual(await prices(ids), [12_000]);
    const less = await staff.call('POST', '/stock/bulk', { ...body, price: { amount: -1_000 } });
    assert.deepEqual([less.status, less.body.error.field], [400, 'attempt']);
    assert.equal((await owner.call('DELETE', `/items/${ids[0]}`)).status, 204);
    assert.deepEqual((await staff.call('POST', '/stock/bulk', body)).body, answers[0]?.body);
  });

  it('of parts touch no watches', async () => {
    const id = await createItem(world.channel, COMMAND_LINE, owner.organizationId, part({ title: 'Kindred crown' }));
    const job = await change({ filter: { kind: 'part', q: 'kindred' }, action: 'hide' });
    assert.equal(job.total, 1);
    assert.equal((await read([id]))[0]?.isHidden, true);
  });
});
