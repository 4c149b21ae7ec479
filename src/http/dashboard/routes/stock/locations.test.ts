import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { COMMAND_LINE } from '../../../../audit/actor.ts';
import { createItem } from '../../../../inventory/items/item-operations.ts';

type Person = Awaited<ReturnType<typeof signedIn>>;

describe('business units and locations', () => {
  let world: World;
  let staff: Person;
  before(async () => {
    world = await startWorld();
    staff = await signedIn(world, { role: 'staff' });
  });
  after(() => world.stop());

  const units = async () => (await staff.call('GET', '/locations')).body.business_units;
  const make = async (unit: string, location: string) => {
    const unitId = (await staff.call('POST', '/business-units', { name: unit })).body.id;
    const made = await staff.call('POST', `/business-units/${unitId}/locations`, { name: location });
    return { unitId, locationId: made.body.id };
  };
  const putItem = (locationId: string) =>
    createItem(world.channel, COMMAND_LINE, staff.organizationId, watch({ locationId }));

  it('are made, renamed and listed with the number of their items', async () => {
    const { unitId, locationId } = await make('Geneva', 'Vault');
    await putItem(locationId);
    assert.equal((await staff.call('PATCH', `/business-units/${unitId}`, { name: 'Genève' })).status, 204);
    assert.equal((await staff.call('PATCH', `/locations/${locationId}`, { name: 'Safe' })).status, 204);
    assert.deepEqual(
      (await units()).find(({ id }: { id: string }) => id === unitId),
      { id: unitId, name: 'Genève', locations: [{ id: locationId, name: 'Safe', items: 1 }] },
    );
  });

  it('lose a location only with the number of items that was confirmed; the items stay without one', async () => {
    const { unitId, locationId } = await make('Zurich', 'Window');
    const itemIds = [await putItem(locationId), await putItem(locationId)];
    for (const query of ['', '?items=1', '?items=3']) {
      const refused = await staff.call('DELETE', `/locations/${locationId}${query}`);
      assert.equal(refused.status, 409);
      assert.equal(refused.body.error.code, 'changed_meanwhile');
      assert.match(refused.body.error.message, /2 items lie at Window/);
    }
    const notEmpty = await staff.call('DELETE', `/business-units/${unitId}`);
    assert.equal(notEmpty.status, 409);
    assert.equal(notEmpty.body.error.code, 'not_empty');
    assert.equal((await staff.call('DELETE', `/locations/${locationId}?items=2`)).status, 204);
    assert.equal((await staff.call('DELETE', `/business-units/${unitId}`)).status, 204);
    assert.equal(
      (await units()).some(({ id }: { id: string }) => id === unitId),
      false,
    );
    const { data } = (await staff.call('GET', '/stock?kind=listing')).body;
    for (const id of itemIds) {
      const item = data.find((one: { id: string }) => one.id === id);
      assert.equal(item.location, null);
    }
    const [entry] = (await staff.call('GET', `/audit?object_id=${itemIds[0]}&action=item.edited`)).body.data;
    assert.deepEqual(entry.changes, [{ field: 'locationId', old: locationId, new: null }]);
  });

  it('answer bad names with 400 and the field', async () => {
    for (const name of ['', '  ', 'x'.repeat(501), 'line\nbreak']) {
      const answer = await staff.call('POST', '/business-units', { name });
      assert.equal(answer.status, 400, name);
      assert.equal(answer.body.error.field, 'name');
    }
  });
});
