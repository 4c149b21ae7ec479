import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { COMMAND_LINE } from '../../../../audit/actor.ts';
import { sql } from '../../../../db/sql.ts';
import { createItem } from '../../../../inventory/items/item-operations.ts';

type Person = Awaited<ReturnType<typeof signedIn>>;

describe('the settings of the business', () => {
  let world: World;
  let owner: Person;
  let staff: Person;
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
  });
  after(() => world.stop());

  const read = async (person = owner) => (await person.call('GET', '/business')).body;
  const save = (body: object, person = owner) => person.call('PATCH', '/business', body);

  it('are changed with an audit row and shown in the session', async () => {
    const { revision } = await read();
    const address = {
      line1: 'Main Street 1',
      line2: null,
      city: 'Zurich',
      state: null,
      postal_code: '8001',
      country: 'CH',
    };
    const answer = await save({
      revision,
      name: 'Uhren & Co.',
      address,
      default_tax_treatment: 'margin_scheme',
      time_zone: 'Europe/Zurich',
    });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.name, 'Uhren & Co.');
    assert.deepEqual(answer.body.address, address);
    assert.equal(answer.body.revision, revision + 1);
    assert.deepEqual(answer.body, await read(staff));
    const session = (await owner.call('GET', '/session')).body;
    assert.equal(session.organization.time_zone, 'Europe/Zurich');
    const [entry] = (await owner.call('GET', '/audit?action=organization.changed&limit=1')).body.data;
    assert.equal(entry.actor.id, owner.userId);
    assert.ok(entry.changes.some(({ field }: { field: string }) => field === 'timeZone'));
  });

  it('refuse a save that began before a colleague’s, and lose neither', async () => {
    const { revision } = await read();
    assert.equal((await save({ revision, name: 'First' })).status, 200);
    const late = await save({ revision, name: 'Second' });
    assert.equal(late.status, 409);
    assert.equal(late.body.error.code, 'changed_meanwhile');
    assert.equal((await read()).name, 'First');
  });

  it('refuse a currency in which a channel could not be priced, naming the pairs', async () => {
    const { revision, currency } = await read();
    const answer = await save({ revision, currency: 'KWD' });
    assert.equal(answer.status, 409, answer.text);
    assert.equal(answer.body.error.code, 'rate_missing');
    assert.equal(answer.body.error.field, 'currency');
    assert.match(answer.body.error.message, /KWD\/[A-Z]{3}/);
    assert.equal((await read()).currency, currency);
    assert.equal((await read()).revision, revision);
  });

  it('answer bad input with 400 and the field', async () => {
    const { revision, address } = await read();
    for (const [body, field] of [
      [{ time_zone: 'Mars/Olympus' }, 'time_zone'],
      [{ time_zone: '+02:00' }, 'time_zone'],
      [{ currency: 'ABC' }, 'currency'],
      [{ address: { ...address, country: 'Switzerland' } }, 'address.country'],
      [{ default_tax_treatment: 'none' }, 'default_tax_treatment'],
      [{ name: '   ' }, 'name'],
    ] as const) {
      const answer = await save({ revision, ...body });
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.body.error.field, field);
    }
    assert.equal((await save({ name: 'Without revision' })).status, 400);
  });

  it('are for owners to change', async () => {
    const { revision } = await read();
    assert.equal((await save({ revision, name: 'Mine' }, staff)).status, 403);
    assert.equal((await staff.call('PUT', '/business/cost-access', { staff_sees_cost: true })).status, 403);
  });

  it('open cost prices to staff, and close them again, without disturbing a colleague who types', async () => {
    const { revision } = await read();
    const itemId = await createItem(world.channel, COMMAND_LINE, owner.organizationId, watch({ title: 'Costly' }));
    await world.db.query(sql`update items set cost_amount = 4200 where id = ${itemId}`);
    const cost = async () => (await staff.call('GET', '/stock?kind=listing&q=costly')).body.data[0].cost_amount;
    assert.equal(await cost(), null);
    await owner.call('PUT', '/business/cost-access', { staff_sees_cost: true });
    assert.equal(await cost(), 4200);
    await owner.call('PUT', '/business/cost-access', { staff_sees_cost: false });
    assert.equal(await cost(), null);
    assert.equal((await read()).revision, revision);
  });
});
