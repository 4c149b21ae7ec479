import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { part, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { COMMAND_LINE } from '../../../../audit/actor.ts';
import { sql } from '../../../../db/sql.ts';
import { listChannels } from '../../../../dealers/integrations/integrations.ts';
import { createItem } from '../../../../inventory/items/item-operations.ts';
import { setPublished } from '../../../../inventory/publications.ts';

describe('the list of stock in the dashboard', () => {
  let world: World;
  let owner: Awaited<ReturnType<typeof signedIn>>;
  let integrationId: string;
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    integrationId = (await listChannels(world.db, owner.organizationId))[0]?.id ?? '';
  });
  after(() => world.stop());

  const create = (input: ReturnType<typeof watch> | ReturnType<typeof part>, organizationId = owner.organizationId) =>
    createItem(world.channel, COMMAND_LINE, organizationId, input);

  it('shows a page of watches with their prices on each channel, and pages forward and back', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.unshift(await create(watch({ title: `Paged ${index}` })));
    await setPublished(world.channel, COMMAND_LINE, owner.organizationId, integrationId, [ids[0] ?? ''], true);
    await create(part({ title: 'Paged part' }));
    const read = async (query: string) => (await owner.call('GET', `/stock?kind=listing&q=paged&${query}`)).body;
    const first = await read('limit=2');
    assert.deepEqual(
      first.data.map((item: { id: string }) => item.id),
      ids.slice(0, 2),
    );
    assert.deepEqual(first.count, { value: 5, is_capped: false });
    assert.equal(first.previous_cursor, null);
    assert.equal(first.data[0].channels[0].integration_id, integrationId);
    assert.equal(first.data[0].channels[0].is_on, true);
    assert.equal(first.data[0].channels[0].price.amount, 1_299_000);
    assert.deepEqual(first.data[1].channels, []);
    const second = await read(`limit=2&after=${first.next_cursor}`);
    const third = await read(`limit=2&after=${second.next_cursor}`);
    assert.deepEqual(
      third.data.map((item: { id: string }) => item.id),
      ids.slice(4),
    );
    assert.equal(third.next_cursor, null);
    const back = await read(`limit=2&before=${second.previous_cursor}`);
    assert.deepEqual(back.data, first.data);
    assert.equal(back.previous_cursor, null);
  });

  it('answers filters and cursors that are wrong with 400 and the field', async () => {
    for (const [query, field] of [
      ['kind=house', 'kind'],
      ['kind=listing&status=gone', 'status'],
      ['kind=listing&sort=colour', 'sort'],
      ['kind=listing&limit=0', 'limit'],
      ['kind=listing&after=nonsense', 'after'],
      ['kind=listing&sort=price&after=WyItY3JlYXRlZCIsbnVsbCwieCJd', 'after'],
    ] as [string, string][]) {
      const answer = await owner.call('GET', `/stock?${query}`);
      assert.equal(answer.status, 400, query);
      assert.equal(answer.body.error.field, field, query);
    }
    const value = Buffer.from(JSON.stringify(['-created', 'no time', 'x'])).toString('base64url');
    assert.equal((await owner.call('GET', `/stock?kind=listing&after=${value}`)).status, 400);
  });

  it('keeps cost prices from staff', async () => {
    const id = await create(watch({ title: 'Costly' }));
    await world.db.query(sql`update items set cost_amount = 700 where id = ${id}`);
    const staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    const costOf = async (person: typeof owner) =>
      (await person.call('GET', '/stock?kind=listing&q=costly')).body.data[0].cost_amount;
    assert.equal(await costOf(owner), 700);
    assert.equal(await costOf(staff), null);
  });

  it('shows nothing of another dealer, also when filtered by a channel or location of theirs', async () => {
    const stranger = await signedIn(world);
    await create(watch({ title: 'Foreign' }), stranger.organizationId);
    const [channel] = await listChannels(world.db, stranger.organizationId);
    for (const query of ['q=foreign', `integration_id=${channel?.id}`, 'location_id=loc_x']) {
      assert.deepEqual((await owner.call('GET', `/stock?kind=listing&${query}`)).body.data, [], query);
    }
  });

  it('offers brands, locations and channels, and counts each tab', async () => {
    const { body } = await owner.call('GET', '/stock/choices?kind=listing');
    assert.ok(body.brands.includes('Rolex'));
    assert.equal(body.channels[0].integration_id, integrationId);
    assert.ok(body.tabs.all.value >= body.tabs.in_stock.value);
    assert.ok(body.tabs.needs_work.value > 0);
  });

  it('puts an item on a channel and takes it off, and the site reads it so', async () => {
    const id = await create(watch());
    const toggle = (isOn: boolean) => owner.call('PUT', `/stock/${id}/channels/${integrationId}`, { is_on: isOn });
    assert.equal((await toggle(true)).status, 200);
    const read = async () =>
      await world.db.query<{ status: string }>(sql`select status from channel_documents where item_id = ${id}`);
    assert.equal((await read())[0]?.status, 'active');
    assert.equal((await toggle(false)).status, 200);
    assert.equal((await read())[0]?.status, 'unpublished');
    assert.equal((await owner.call('PUT', `/stock/${id}/channels/${integrationId}`, { is_on: 'yes' })).status, 400);
  });
});
