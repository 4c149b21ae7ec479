import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { addShop } from '../../../../../test/harness/shop.ts';
import { watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { type Actor, COMMAND_LINE } from '../../../../audit/actor.ts';
import { recordAudit } from '../../../../audit/record-audit.ts';
import { auditActionText, auditJobName } from '../../../../contract/audit-actions.ts';
import { changePresentation } from '../../../../dealers/integrations/integration-settings.ts';
import { createItem, editItem, setHidden } from '../../../../inventory/items/item-operations.ts';
import { createBusinessUnit, createLocation } from '../../../../inventory/locations.ts';

type Person = Awaited<ReturnType<typeof signedIn>>;

it('an action of the audit log says which way a switch went, as far as its values say it', () => {
  assert.equal(auditActionText('webhooks.enabled_changed', { isEnabled: false }), 'Webhooks switched off');
  assert.equal(auditActionText('item.publication_changed', { isOn: true }), 'Item published');
  assert.equal(auditActionText('item.publication_changed', {}), 'Item published or unpublished');
  assert.equal(auditJobName('deliveries'), 'Webhook delivery');
});

describe('the audit log in the dashboard', () => {
  let world: World;
  let owner: Person;
  let staff: Person;
  let itemId: string;
  let otherId: string;
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    const actor: Actor = { kind: 'person', userId: owner.userId, role: 'owner', address: '203.0.113.7' };
    itemId = await createItem(world.channel, actor, owner.organizationId, watch({ title: 'Logged' }));
    otherId = await createItem(world.channel, actor, owner.organizationId, watch({ title: 'Other' }));
    await editItem(world.channel, actor, owner.organizationId, itemId, { title: 'Logged anew' });
    await setHidden(world.channel, actor, owner.organizationId, [itemId, otherId], true);
    await createBusinessUnit(world.db, COMMAND_LINE, owner.organizationId, '=1+1');
    await world.db.transaction((tx) =>
      recordAudit(tx, actor, {
        organizationId: owner.organizationId,
        action: 'item.edited',
        object: { kind: 'item', id: otherId },
        old: { costAmount: 100, title: 'Other' },
        new: { costAmount: 200, title: 'Costly' },
      }),
    );
  });
  after(() => world.stop());

  const list = async (query: string, person = owner) => (await person.call('GET', `/audit?${query}`)).body;

  it('shows who changed what, with names, newest first', async () => {
    const { data } = await list('object_kind=item&action=item.edited');
    assert.deepEqual(
      data.map((entry: { object: { id: string } }) => entry.object.id),
      [otherId, itemId],
    );
    const [, edited] = data;
    assert.equal(edited.actor.id, owner.userId);
    assert.match(edited.actor.name, /^Person /);
    assert.equal(edited.actor.address, '203.0.113.7');
    assert.match(edited.object.name, /^Logged anew \(/);
    assert.deepEqual(edited.changes, [{ field: 'title', old: 'Logged', new: 'Logged anew' }]);
    assert.equal(edited.is_undoable, true);
  });

  it('gives the history of one object, with what a change of many did to it', async () => {
    const { data, count } = await list(`object_kind=item&object_id=${itemId}`);
    assert.deepEqual(
      data.map((entry: { action: string }) => entry.action),
      ['item.visibility_changed', 'item.edited', 'item.created'],
    );
    assert.deepEqual(count, { value: 3, is_capped: false });
    const [hidden] = data;
    assert.equal(hidden.object.id, null);
    assert.equal(hidden.object_count, 2);
    assert.deepEqual(hidden.changes, [{ field: 'isHidden', old: false, new: true }]);
    const objects = (await owner.call('GET', `/audit/${hidden.id}/objects`)).body;
    assert.deepEqual(
      objects.data.map(({ id }: { id: string }) => id),
      [itemId, otherId].sort(),
    );
    assert.equal(objects.next_cursor, null);
  });

  it('finds an object by its id in the search, and narrows by actor and time', async () => {
    assert.equal((await list(`q=${itemId}`)).data.length, 3);
    const byCommandLine = (await list('actor=command_line')).data;
    assert.ok(byCommandLine.length > 0);
    for (const entry of byCommandLine) assert.equal(entry.actor.kind, 'command_line');
    for (const entry of (await list(`actor=${owner.userId}`)).data) assert.equal(entry.actor.id, owner.userId);
    assert.deepEqual((await list('to=2020-01-01T00:00:00Z')).data, []);
    assert.ok((await list('from=2020-01-01T00:00:00Z')).data.length > 0);
  });

  it('pages forward and back without losing a row', async () => {
    const all = (await list('limit=200')).data.map(({ id }: { id: string }) => id);
    const seen: string[] = [];
    let page = await list('limit=2');
    for (let pages = 0; pages < 100; pages += 1) {
      seen.push(...page.data.map(({ id }: { id: string }) => id));
      if (page.next_cursor === null) break;
      page = await list(`limit=2&after=${page.next_cursor}`);
    }
    assert.deepEqual(seen, all);
    const second = await list(`limit=2&after=${(await list('limit=2')).next_cursor}`);
    assert.deepEqual((await list(`limit=2&before=${second.previous_cursor}`)).data, (await list('limit=2')).data);
  });

  it('hides cost prices and addresses from staff', async () => {
    const [entry] = (await list(`object_id=${otherId}&action=item.edited`, staff)).data;
    assert.deepEqual(entry.changes, [{ field: 'title', old: 'Other', new: 'Costly' }]);
    assert.equal(entry.actor.address, null);
  });

  it('undoes a change once, names what ids mean, and offers no undo for a change of many', async () => {
    const unitId = (await list('object_kind=business_unit')).data[0].object.id;
    const locationId = await createLocation(world.db, COMMAND_LINE, owner.organizationId, unitId, 'Safe');
    const id = await createItem(world.channel, COMMAND_LINE, owner.organizationId, watch({ title: 'One' }));
    const { revision } = (await owner.call('GET', `/items/${id}`)).body;
    const body = { revision, title: 'Two', location_id: locationId };
    const saved = (await staff.call('PATCH', `/items/${id}`, body)).body;
    const [entry] = (await list(`object_id=${id}`)).data;
    assert.deepEqual([entry.id, entry.is_undoable, entry.names], [saved.audit_id, true, { [locationId]: 'Safe' }]);
    const undone = await staff.call('POST', `/audit/${entry.id}/undo`);
    assert.deepEqual([undone.status, undone.body.skipped], [200, []]);
    const [undo, edited] = (await list(`object_id=${id}`)).data;
    assert.deepEqual([undo.undoes, edited.undone_by, edited.is_undoable], [entry.id, undo.id, false]);
    const twice = await staff.call('POST', `/audit/${entry.id}/undo`);
    assert.deepEqual([twice.status, twice.body.error.code], [409, 'not_undoable']);
    const [many] = (await list('action=item.visibility_changed')).data;
    assert.equal(many.is_undoable, false);
    assert.equal((await owner.call('POST', `/audit/${many.id}/undo`)).status, 409);
  });

  it('offers no undo for settings of an integration, whose undo would be refused', async () => {
    const { organizationId } = owner;
    const shop = await addShop(world, { organizationId });
    await changePresentation(world.channel, COMMAND_LINE, organizationId, shop.integrationId, { imageFormat: 'webp' });
    const [entry] = (await list('action=integration.presentation_changed')).data;
    assert.equal(entry.object.id, shop.integrationId);
    assert.equal(entry.is_undoable, false);
    const refused = await owner.call('POST', `/audit/${entry.id}/undo`);
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'not_undoable']);
  });

  it('is exported as CSV for owners, formulas as text', async () => {
    const answer = await owner.call('GET', '/audit/export?object_kind=business_unit');
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/);
    assert.match(answer.headers.get('content-disposition') ?? '', /audit\.csv/);
    const lines = answer.text.trim().split('\r\n');
    assert.equal(lines.length, 2, answer.text);
    assert.match(lines[1] ?? '', /Business unit created,Business unit,bun_\w+,'=1\+1,/);
    assert.equal((await staff.call('GET', '/audit/export')).status, 403);
  });

  it('answers bad filters with 400 and shows another dealer nothing', async () => {
    for (const query of ['action=nothing', 'object_kind=house', 'from=yesterday', 'after=x']) {
      assert.equal((await owner.call('GET', `/audit?${query}`)).status, 400, query);
    }
    const stranger = await signedIn(world);
    assert.deepEqual((await list(`object_id=${itemId}`, stranger)).data, []);
    const [entry] = (await list(`object_id=${itemId}`)).data;
    assert.equal((await stranger.call('GET', `/audit/${entry.id}/objects`)).status, 404);
  });
});
