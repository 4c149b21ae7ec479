import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { assertRefused } from '../../../test/harness/refusal.ts';
import { addShop } from '../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../ids/new-id.ts';
import { sellUnits } from '../../sales/sell.ts';
import { createBusinessUnit, createLocation, deleteLocation } from '../locations.ts';
import { orderPhotos, removePhoto } from '../photos/photos.ts';
import { setPublished } from '../publications.ts';
import type { ItemChanges } from './item-input.ts';
import { editItem, setHidden } from './item-operations.ts';
import { readItem } from './read-item.ts';
import { undoChange } from './undo-change.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('the undo of a change of an item', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
  });
  after(() => world.stop());

  const read = (id: string) => readItem(world.db, dealer.organizationId, id);
  const undo = (auditId: string | null, isCostAllowed = true, organizationId = dealer.organizationId) =>
    undoChange(world.channel, TESTER, organizationId, auditId ?? '', { isCostAllowed });
  const edit = async (id: string, changes: ItemChanges) =>
    (await editItem(world.channel, TESTER, dealer.organizationId, id, changes)).auditId;
  const eventsOf = async (id: string) =>
    (await dealer.api.get('/v1/events?limit=100')).body.data.filter(
      (event: { data: { object: { id: string } } }) => event.data.object.id === id,
    ).length;

  it('puts back what was edited, as a new change with its own event and a link to what it undoes', async () => {
    const id = await publishNew(world, dealer, watch({ title: 'Before', priceAmount: 100_000 }));
    const before = await eventsOf(id);
    const auditId = await edit(id, { title: 'After', priceAmount: 90_000, attributes: { year: 1999 } });
    const undone = await undo(auditId);
    assert.deepEqual(undone.skipped, []);
    const item = await read(id);
    assert.deepEqual([item.title, item.priceAmount, item.attributes.year], ['Before', 100_000, 2023]);
    assert.equal((await eventsOf(id)) - before, 2, 'one for the edit, one for its undo');
    const [row] = await world.db.query<{ undoes: string }>(sql`
      select undoes from audit_log where organization_id = ${dealer.organizationId} and id = ${undone.auditId}`);
    assert.equal(row?.undoes, auditId);
  });

  it('leaves what somebody has changed since, and names it', async () => {
    const id = await publishNew(world, dealer, watch({ title: 'Before', priceAmount: 100_000 }));
    const auditId = await edit(id, { title: 'After', priceAmount: 90_000, attributes: { year: 1999, caliber: 'X' } });
    await edit(id, { priceAmount: 80_000, attributes: { caliber: 'Y' } });
    assert.deepEqual((await undo(auditId)).skipped, ['priceAmount', 'caliber']);
    const item = await read(id);
    assert.deepEqual(
      [item.title, item.priceAmount, item.attributes.year, item.attributes.caliber],
      ['Before', 80_000, 2023, 'Y'],
    );
  });

  it('does not give back a unit that was sold since', async () => {
    const id = await publishNew(world, dealer, watch({ units: 1 }));
    const auditId = await edit(id, { units: 5 });
    await sellUnits(world.channel, TESTER, dealer.organizationId, id, 1);
    await assertRefused(undo(auditId), 'changed_meanwhile');
    assert.equal((await read(id)).units, 4);
  });

  it('is refused a second time, after 30 days, for another dealer’s change and for what has no undo', async () => {
    const id = await publishNew(world, dealer, watch());
    const auditId = await edit(id, { title: 'Twice' });
    await undo(auditId);
    await assertRefused(undo(auditId), 'not_undoable');
    const other = await world.dealer();
    await assertRefused(undo(auditId, true, other.organizationId), 'not_found');
    await assertRefused(undo(newId('audit')), 'not_found');
    const late = await edit(id, { title: 'Late' });
    world.setTime(new Date(Date.now() + 30 * DAY_MS + 60_000));
    await assertRefused(undo(late), 'not_undoable').finally(() => world.setTime(null));
    const [created] = await world.db.query<{ id: string }>(sql`
      select id from audit_log
      where organization_id = ${dealer.organizationId} and object_id = ${id} and action = 'item.created'`);
    await assertRefused(undo(created?.id ?? ''), 'not_undoable');
  });

  it('can itself be undone', async () => {
    const id = await publishNew(world, dealer, watch({ title: 'One' }));
    const { auditId } = await undo(await edit(id, { title: 'Two' }));
    await undo(auditId);
    assert.equal((await read(id)).title, 'Two');
  });

  it('leaves the cost price to those who may see it', async () => {
    const id = await publishNew(world, dealer, watch({ costAmount: 100, title: 'One' }));
    const auditId = await edit(id, { costAmount: 200, title: 'Two' });
    assert.deepEqual((await undo(auditId, false)).skipped, ['costAmount']);
    const item = await read(id);
    assert.deepEqual([item.costAmount, item.title], [200, 'One']);
  });

  it('turns a toggle and hiding back, unless they stand as before already', async () => {
    const id = await publishNew(world, dealer, watch());
    const { organizationId, integrationId } = dealer;
    const off = await setPublished(world.channel, TESTER, organizationId, integrationId, [id], false);
    await undo(off);
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).body.status, 'active');
    const hidden = await setHidden(world.channel, TESTER, organizationId, [id], true);
    await setHidden(world.channel, TESTER, organizationId, [id], false);
    await assertRefused(undo(hidden), 'changed_meanwhile');
    assert.equal(await setHidden(world.channel, TESTER, organizationId, [id], false), null, 'nothing to change');
  });

  it('leaves a toggle and hiding as somebody has decided since, also if that is what the change did', async () => {
    const id = await publishNew(world, dealer, watch());
    const other = await publishNew(world, dealer, watch());
    const { organizationId, integrationId } = dealer;
    const hide = (isHidden: boolean, ids = [id]) => setHidden(world.channel, TESTER, organizationId, ids, isHidden);
    const publish = (isOn: boolean, ids = [id]) =>
      setPublished(world.channel, TESTER, organizationId, integrationId, ids, isOn);
    const hidden = await hide(true);
    await hide(false);
    // With another item: then the log has it beside a row for both.
    await hide(true, [id, other]);
    await assertRefused(undo(hidden), 'changed_meanwhile');
    assert.equal((await read(id)).isHidden, true);
    await hide(false, [id, other]);
    const off = await publish(false);
    await publish(true, [id, other]);
    await publish(false);
    await assertRefused(undo(off), 'changed_meanwhile');
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).body.status, 'unpublished');
  });

  it('turns a toggle and hiding back after the undo of a later one, and whatever became of another channel', async () => {
    const id = await publishNew(world, dealer, watch());
    const shop = await addShop(world, dealer);
    const { organizationId, integrationId } = dealer;
    const hide = (isHidden: boolean) => setHidden(world.channel, TESTER, organizationId, [id], isHidden);
    const publish = (channelId: string, isOn: boolean) =>
      setPublished(world.channel, TESTER, organizationId, channelId, [id], isOn);
    const hidden = await hide(true);
    await undo(await hide(false));
    await undo(hidden);
    assert.equal((await read(id)).isHidden, false);
    const off = await publish(integrationId, false);
    await publish(shop.integrationId, true);
    await hide(true);
    await hide(false);
    await undo(off);
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).body.status, 'active');
  });

  it('of hiding looks behind a hundred other changes, and gives up behind a thousand', async () => {
    const { organizationId } = dealer;
    const hide = (id: string, isHidden: boolean) => setHidden(world.channel, TESTER, organizationId, [id], isHidden);
    const changeOften = (id: string, count: number) =>
      world.db.query(sql`
        insert into audit_log (organization_id, id, actor_kind, action, object_kind, object_id)
        select ${organizationId}, ${newId('audit')} || number, 'command_line', 'item.edited', 'item', ${id}
        from generate_series(1, ${count}::integer) as number`);
    const once = await publishNew(world, dealer, watch());
    const hiddenOnce = await hide(once, true);
    await changeOften(once, 150);
    await undo(hiddenOnce);
    assert.equal((await read(once)).isHidden, false);
    const twice = await publishNew(world, dealer, watch());
    const hiddenFirst = await hide(twice, true);
    await hide(twice, false);
    await hide(twice, true);
    await changeOften(twice, 150);
    await assertRefused(undo(hiddenFirst), 'changed_meanwhile');
    const often = await publishNew(world, dealer, watch());
    const hiddenLongAgo = await hide(often, true);
    await changeOften(often, 1_001);
    await assertRefused(undo(hiddenLongAgo), 'changed_meanwhile');
  });

  it('puts the rest back if the old location was deleted, and is refused if there is no rest', async () => {
    const { organizationId } = dealer;
    const unit = await createBusinessUnit(world.db, TESTER, organizationId, 'Geneva');
    const [safe, shop] = [
      await createLocation(world.db, TESTER, organizationId, unit, 'Safe'),
      await createLocation(world.db, TESTER, organizationId, unit, 'Shop'),
    ];
    const id = await publishNew(world, dealer, watch({ priceAmount: 100_000, locationId: safe }));
    const other = await publishNew(world, dealer, watch({ locationId: safe }));
    const both = await edit(id, { priceAmount: 90_000, locationId: shop });
    const moved = await edit(other, { locationId: shop });
    await deleteLocation(world.channel, TESTER, { organizationId, id: safe, confirmedItems: 0 });
    assert.deepEqual((await undo(both)).skipped, ['locationId']);
    const item = await read(id);
    assert.deepEqual([item.priceAmount, item.locationId], [100_000, shop]);
    await assertRefused(undo(moved), 'changed_meanwhile');
  });

  it('puts a photo back and the photos in their old order', async () => {
    const id = await publishNew(world, dealer, watch());
    const { organizationId } = dealer;
    const ids = [newId('photo'), newId('photo')];
    for (const [index, photoId] of ids.entries()) {
      await world.db.query(sql`
        insert into photos (id, item_id, organization_id, position, width, height, format)
        values (${photoId}, ${id}, ${organizationId}, ${index + 1}, 10, 10, 'jpeg')`);
    }
    const photos = async () => (await read(id)).photos.map((photo) => photo.id);
    const ordered = await orderPhotos(world.channel, TESTER, organizationId, id, [...ids].reverse());
    await undo(ordered);
    assert.deepEqual(await photos(), ids);
    const removed = await removePhoto(world.channel, TESTER, organizationId, id, ids[0] ?? '');
    assert.equal((await photos()).length, 1);
    await undo(removed);
    assert.deepEqual(await photos(), ids);
    const again = await orderPhotos(world.channel, TESTER, organizationId, id, [...ids].reverse());
    await removePhoto(world.channel, TESTER, organizationId, id, ids[0] ?? '');
    await assertRefused(undo(again), 'changed_meanwhile');
  });
});
