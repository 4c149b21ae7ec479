import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { VIEWS_LIMIT } from '../../../contract/dashboard/limits.ts';
import { sql } from '../../../db/sql.ts';

type Person = Awaited<ReturnType<typeof signedIn>>;
type View = { id: string; name: string; query: string; is_shared: boolean; is_mine: boolean; can_change: boolean };

describe('saved views', () => {
  let world: World;
  let owner: Person;
  let staff: Person;
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
  });
  after(() => world.stop());

  const save = (person: Person, view: { list?: string; name: string; query?: string; is_shared?: boolean }) =>
    person.call('POST', '/views', { list: 'watches', query: '', is_shared: false, ...view });
  const listed = async (person: Person, list: string): Promise<View[]> =>
    (await person.call('GET', `/views?list=${list}`)).body.data;

  it('are listed by name: my own and those that are shared, each with what its list shows', async () => {
    const mine = await save(staff, { list: 'parts', name: 'Wanted', query: 'brand=Rolex&sort=-price' });
    assert.equal(mine.status, 200);
    await save(owner, { list: 'parts', name: 'Private of the owner' });
    await save(owner, { list: 'parts', name: 'all of us', query: 'status=sold', is_shared: true });
    await save(staff, { list: 'orders', name: 'Another list' });
    const views = await listed(staff, 'parts');
    assert.deepEqual(
      views.map(({ name, query, is_shared, is_mine, can_change }) => [name, query, is_shared, is_mine, can_change]),
      [
        ['all of us', 'status=sold', true, false, false],
        ['Wanted', 'brand=Rolex&sort=-price', false, true, true],
      ],
    );
  });

  it('are renamed, shared, changed and deleted by whoever saved them, with an audit row for each', async () => {
    const { id } = (await save(staff, { name: 'Vintage', query: 'q=vintage' })).body;
    const change = (body: object) => staff.call('PATCH', `/views/${id}`, body);
    assert.equal((await change({ name: 'Vintage watches' })).status, 204);
    assert.equal((await change({ query: 'q=vintage&sort=price' })).status, 204);
    assert.equal((await change({ is_shared: true })).status, 204);
    const [seen] = (await listed(owner, 'watches')).filter((view) => view.id === id);
    assert.equal(seen?.name, 'Vintage watches');
    assert.equal(seen?.query, 'q=vintage&sort=price');
    assert.equal((await staff.call('DELETE', `/views/${id}`)).status, 204);
    assert.equal((await staff.call('DELETE', `/views/${id}`)).status, 404);
    const rows = await world.db.query<{ action: string; actor: string }>(sql`
      select action, actor_id as actor from audit_log where object_id = ${id} order by at, id`);
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['view.created', 'view.changed', 'view.changed', 'view.shared', 'view.deleted'],
    );
    assert.ok(rows.every(({ actor }) => actor === staff.userId));
  });

  it('of a colleague are like none at all while private; shared ones are changed by owners only', async () => {
    const secret = (await save(owner, { name: 'Mine alone' })).body.id;
    assert.equal((await staff.call('PATCH', `/views/${secret}`, { name: 'x' })).status, 404);
    const shared = (await save(owner, { name: 'For all', is_shared: true })).body.id;
    const refused = await staff.call('DELETE', `/views/${shared}`);
    assert.equal(refused.status, 403);
    assert.match(refused.body.error.message, /or an owner, may change it\.$/);
    const ofStaff = (await save(staff, { name: 'By staff', is_shared: true })).body.id;
    assert.equal((await owner.call('PATCH', `/views/${ofStaff}`, { name: 'Renamed by owner' })).status, 204);
    assert.equal((await owner.call('PATCH', `/views/${ofStaff}`, { is_shared: false })).status, 403);
    assert.equal((await owner.call('DELETE', `/views/${ofStaff}`)).status, 204);
  });

  it('have names that are not empty, not taken and not too long, and a limit for each person', async () => {
    await save(staff, { list: 'audit', name: 'Taken' });
    for (const name of ['', '   ', 'x'.repeat(81), 'taken', 'a\nb']) {
      const answer = await save(staff, { list: 'audit', name });
      assert.equal(answer.status, 400, JSON.stringify(name));
      assert.equal(answer.body.error.field, 'name', JSON.stringify(name));
    }
    for (const list of ['no_such', 'No such', '']) {
      const answer = await save(staff, { name: 'x', list });
      assert.equal(answer.status, 400, list);
      assert.equal(answer.body.error.field, 'list');
      assert.equal((await staff.call('GET', `/views?list=${list}`)).status, 400, list);
    }
    assert.equal((await save(staff, { name: 'x', query: 'a\nb' })).body.error.field, 'query');
    await world.db.query(sql`
      insert into saved_views (id, organization_id, user_id, list, name, query, is_shared, created_at, updated_at)
      select 'view_' || n, ${staff.organizationId}, ${staff.userId}, (array['jobs', 'events', 'requests'])[1 + n % 3],
        'View ' || n, '', false, now(), now()
      from generate_series(1, ${VIEWS_LIMIT}) n`);
    const full = await save(staff, { list: 'audit', name: 'One more' });
    assert.equal(full.status, 409);
    assert.equal(full.body.error.code, 'limit_reached');
    assert.match(full.body.error.message, /Delete one/);
  });

  it('stay with the team when they are shared and their maker leaves; private ones go', async () => {
    const leaver = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    await save(leaver, { list: 'sales', name: 'Shared', is_shared: true });
    await save(leaver, { list: 'sales', name: 'Private' });
    assert.equal((await owner.call('DELETE', `/team/${leaver.userId}`)).status, 204);
    const views = await listed(owner, 'sales');
    assert.deepEqual(
      views.map(({ name, is_mine, can_change }) => [name, is_mine, can_change]),
      [['Shared', false, true]],
    );
    const rows = await world.db.query(sql`
      select id from saved_views where organization_id = ${owner.organizationId} and list = 'sales'`);
    assert.equal(rows.length, 1);
  });
});
