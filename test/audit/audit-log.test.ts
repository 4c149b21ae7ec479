import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Actor } from '../../src/audit/actor.ts';
import { pruneAudit } from '../../src/audit/prune-audit.ts';
import { recordAudit } from '../../src/audit/record-audit.ts';
import { sql } from '../../src/db/sql.ts';
import { deleteIntegration } from '../../src/dealers/deletions.ts';
import { setOrganization } from '../../src/dealers/integrations/attach-integration.ts';
import { changePresentation } from '../../src/dealers/integrations/integration-settings.ts';
import { setEnabled } from '../../src/dealers/integrations/integrations.ts';
import { rotateApiKey } from '../../src/dealers/integrations/rotate-api-key.ts';
import { changeOrganization } from '../../src/dealers/organization-settings.ts';
import { setRate } from '../../src/dealers/rates/exchange-rates.ts';
import { createUser } from '../../src/dealers/users/users.ts';
import { newId } from '../../src/ids/new-id.ts';
import { createItem, editItem, setHidden } from '../../src/inventory/items/item-operations.ts';
import { createBusinessUnit, renameBusinessUnit } from '../../src/inventory/locations.ts';
import { startPromotion } from '../../src/inventory/promotions.ts';
import { setPublished } from '../../src/inventory/publications.ts';
import { moveUnits, reserveUnits } from '../../src/inventory/units/movements.ts';
import { deleteItem } from '../../src/sales/delete-item.ts';
import { confirmOrder, dismissOrder, fulfilOrder } from '../../src/sales/orders/order-operations.ts';
import { sellUnits, voidSale } from '../../src/sales/sell.ts';
import { subscribe } from '../../src/webhooks/endpoints/endpoint-settings.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { publishNew, watch } from '../harness/stock.ts';
import { startWorld, type World } from '../harness/world.ts';

const OWNER: Actor = { kind: 'person', userId: 'usr_owner', role: 'owner', address: '203.0.113.7' };

type Row = {
  action: string;
  object: string | null;
  actor: [string, string | null, string | null, string | null];
  old: Record<string, unknown>;
  new: Record<string, unknown>;
  personal: string[];
  undo: object | null;
};

describe('the audit log', () => {
  let world: World;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    shop = await openShop(world);
  });

  /** What an operation recorded, in the order of its rows. */
  async function recorded(act: () => Promise<unknown>, organizationId = shop.organizationId): Promise<Row[]> {
    const [before] = await rowsOf(organizationId);
    await act();
    const rows = await rowsOf(organizationId);
    return rows.slice(0, before === undefined ? rows.length : rows.findIndex((row) => row.id === before.id)).reverse();
  }
  const rowsOf = (organizationId: string) =>
    world.db.query<Row & { id: string }>(sql`
      select id, action, object_id as object, array[actor_kind, actor_id, actor_role, source_address] as actor,
        old_values as old, new_values as new, personal_fields as personal, undo
      from audit_log where organization_id = ${organizationId} order by id desc`);
  const { stringify } = JSON;
  const brief = (rows: Row[]) => rows.map((row) => `${row.action} ${stringify(row.old)} ${stringify(row.new)}`);

  it('says who changed what, from where, with old and new values', async () => {
    const id = await publishNew(world, shop, watch({ title: 'Before', priceAmount: 100_000 }));
    const rows = await recorded(() =>
      editItem(world.channel, OWNER, shop.organizationId, id, {
        title: 'After',
        priceAmount: 100_000,
        attributes: { year: 2020 },
      }),
    );
    assert.deepEqual(
      rows.map(({ id: _, ...row }: Row & { id?: string }) => row),
      [
        {
          action: 'item.edited',
          object: id,
          actor: ['person', 'usr_owner', 'owner', '203.0.113.7'],
          old: { title: 'Before', attributes: { year: 2023 } },
          new: { title: 'After', attributes: { year: 2020 } },
          personal: [],
          undo: { operation: 'edit_item' },
        },
      ],
    );
  });

  it('has a row for each change of the dealer', async () => {
    const { channel, db } = world;
    const { organizationId, integrationId } = shop;
    const id = await publishNew(world, shop, watch({ units: 3, priceAmount: 100_000 }));
    const rows = await recorded(async () => {
      await changeOrganization(channel, OWNER, organizationId, { name: 'Renamed' });
      await changePresentation(channel, OWNER, organizationId, integrationId, { markupBasisPoints: 500 });
      await setEnabled(db, OWNER, integrationId, false);
      await setEnabled(db, OWNER, integrationId, true);
      await subscribe(db, OWNER, integrationId, ['listing.sold']);
      await moveUnits(channel, OWNER, organizationId, id, 'restock', 2);
      await reserveUnits(channel, OWNER, organizationId, id, 1);
      const saleId = await sellUnits(channel, OWNER, organizationId, id, 1);
      await voidSale(channel, OWNER, organizationId, saleId);
      const unitId = await createBusinessUnit(db, OWNER, organizationId, 'Bern');
      await renameBusinessUnit(channel, OWNER, organizationId, unitId, 'Basel');
      await deleteItem(channel, OWNER, organizationId, id);
    });
    assert.deepEqual(
      rows.map(({ action, old }) => [action, Object.keys(old).join()]),
      [
        ['organization.changed', 'name'],
        ['integration.presentation_changed', 'markupBasisPoints'],
        ['integration.enabled_changed', 'isEnabled'],
        ['integration.enabled_changed', 'isEnabled'],
        ['webhooks.subscription_changed', 'subscribedEvents'],
        ['item.units_moved', 'units,movement'],
        ['item.units_reserved', 'reservedUnits'],
        ['sale.made', 'units,saleId'],
        ['sale.voided', 'units,itemId,status'],
        ['business_unit.created', ''],
        ['business_unit.renamed', 'name'],
        ['item.deleted', 'kind,title,units,priceAmount,stockNumber'],
      ],
    );
  });

  it('names fields about a person without their values, and holds no key', async () => {
    const rows = await recorded(async () => {
      await createUser(world.db, OWNER, {
        organizationId: shop.organizationId,
        name: 'Ada Lovelace',
        email: `ada-${process.pid}@dealer.example`,
        password: 'correct horse battery',
      });
      await rotateApiKey(world.db, OWNER, shop.integrationId);
    });
    assert.deepEqual(rows[0]?.personal, ['name', 'email']);
    assert.doesNotMatch(JSON.stringify(rows), /Ada|ada-|correct|svc_[A-Za-z0-9]{5}/);
    assert.equal(rows.length, 2);
  });

  it('records what becomes of an order, by the dealer and not by its client', async () => {
    const listingId = await publishNew(world, shop, watch());
    let orderId = '';
    const report = async () => {
      const { body } = await shop.post('/v1/orders', {
        channel_order_id: newId('order'),
        lines: [{ listing_id: listingId }],
      });
      orderId = body.id;
    };
    assert.deepEqual(await recorded(report), []);
    assert.deepEqual(await recorded(() => shop.post(`/v1/orders/${orderId}/cancel`)), []);
    await report();
    const rows = await recorded(async () => {
      await confirmOrder(world.channel, OWNER, shop.organizationId, orderId);
      await fulfilOrder(world.channel, OWNER, shop.organizationId, orderId);
    });
    assert.deepEqual(brief(rows), [
      'order.confirmed {"status":"received"} {"status":"matched"}',
      'order.fulfilled {"status":"matched"} {"status":"fulfilled"}',
    ]);
  });

  it('does not repeat the reason of a dismissal, which may be about a person', async () => {
    const { body } = await shop.post('/v1/orders', { channel_order_id: newId('order') });
    const rows = await recorded(() =>
      dismissOrder(world.channel, OWNER, shop.organizationId, body.id, 'Ada called: wrong size'),
    );
    assert.deepEqual(brief(rows), ['order.dismissed {"status":"received"} {"status":"cancelled"}']);
  });

  it('has one row for a change of many, and what became of each of them beside it', async () => {
    const ids = await Promise.all(
      Array.from({ length: 150 }, () => createItem(world.channel, OWNER, shop.organizationId, watch())),
    );
    const [kept = ''] = ids;
    await setHidden(world.channel, OWNER, shop.organizationId, [kept], true);
    const rows = await recorded(() => setHidden(world.channel, OWNER, shop.organizationId, ids, true));
    assert.deepEqual(brief(rows), ['item.visibility_changed {} {"isHidden":true}']);
    assert.equal(rows[0]?.object, null);
    const objects = await world.db.query<{ count: number; hasKept: boolean }>(sql`
      select count(*) as count, coalesce(bool_or(object_id = ${kept}), false) as "hasKept" from audit_log_objects
      where organization_id = ${shop.organizationId} and old_values = '{"isHidden": false}'`);
    assert.deepEqual(objects, [{ count: 149, hasKept: false }]);
    const published = await recorded(() =>
      setPublished(world.channel, OWNER, shop.organizationId, shop.integrationId, [kept], true),
    );
    assert.equal(published[0]?.object, kept);
  });

  it('says nothing of what changed nothing or was refused', async () => {
    const id = await publishNew(world, shop, watch({ title: 'Same', priceAmount: 100_000 }));
    const rows = await recorded(async () => {
      await editItem(world.channel, OWNER, shop.organizationId, id, { title: 'Same' });
      await setHidden(world.channel, OWNER, shop.organizationId, [id], false);
      await setEnabled(world.db, OWNER, shop.integrationId, true);
      await assert.rejects(sellUnits(world.channel, OWNER, shop.organizationId, id, 2));
      const tooDear = { priceAmount: 200_000, startsAt: new Date(), endsAt: null };
      await assert.rejects(startPromotion(world.channel, OWNER, shop.organizationId, id, tooDear));
    });
    assert.deepEqual(rows, []);
  });

  it('rolls back with its change', async () => {
    const change = {
      organizationId: shop.organizationId,
      action: 'item.deleted',
      object: { kind: 'item', id: 'lst_1' },
    } as const;
    const rows = await recorded(() =>
      assert.rejects(
        world.db.transaction(async (tx) => {
          await recordAudit(tx, OWNER, change);
          throw new Error('refused later');
        }),
      ),
    );
    assert.deepEqual(rows, []);
  });

  it('holds a change for all dealers under the service, and what follows an integration under its dealer', async () => {
    const job: Actor = { kind: 'job', name: 'rates' };
    const rates = await recorded(() => setRate(world.channel, job, 'USD', 'SEK', '9.5'), 'service');
    assert.deepEqual(brief(rates), ['rate.set {"rate":null} {"rate":"9.5"}']);
    assert.deepEqual(rates[0]?.actor, ['job', 'rates', null, null]);
    const rows = await recorded(async () => {
      await setOrganization(world.db, OWNER, shop.integrationId, null);
      await setEnabled(world.db, OWNER, shop.integrationId, false);
      await deleteIntegration(world.db, OWNER, shop.integrationId);
    });
    assert.deepEqual(
      rows.map((row) => row.action),
      ['integration.attachment_changed', 'integration.enabled_changed', 'integration.deleted'],
    );
  });

  it('is pruned by age, with the objects of its rows', async () => {
    const ids = await Promise.all([1, 2].map(() => createItem(world.channel, OWNER, shop.organizationId, watch())));
    await setHidden(world.channel, OWNER, shop.organizationId, ids, true);
    const now = Date.now();
    assert.equal(await pruneAudit(world.db, 730, new Date(now)), 0);
    while ((await pruneAudit(world.db, 730, new Date(now + 731 * 86_400_000))) > 0);
    const [left] = await world.db.query(sql`
      select (select count(*) from audit_log) + (select count(*) from audit_log_objects) as count`);
    assert.deepEqual(left, { count: 0 });
  });
});
