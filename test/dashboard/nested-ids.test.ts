import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sharp from 'sharp';
import { COMMAND_LINE } from '../../src/audit/actor.ts';
import type { DashboardOperation } from '../../src/contract/dashboard/operation.ts';
import { DASHBOARD_OPERATIONS } from '../../src/contract/dashboard/operations.ts';
import { CURRENT_VERSION } from '../../src/contract/versions.ts';
import { addPhoto } from '../../src/inventory/photos/photos.ts';
import { startPromotion } from '../../src/inventory/promotions.ts';
import { sellUnits } from '../../src/sales/sell.ts';
import { openOutbox } from '../../src/webhooks/outbox.ts';
import { signedIn } from '../harness/http/dashboard-client.ts';
import { addShop, type Shop } from '../harness/shop.ts';
import { publishNew, watch } from '../harness/stock.ts';
import { startWorld, type World } from '../harness/world.ts';

/**
 * Walks every operation of the dashboard whose path has two ids, with a second one that belongs to another parent of the same
 * dealer: 404. Then the same under the right parent, which proves that the thing was there and is as it was. The operations
 * come from the table itself; one whose ids this walk does not know fails it.
 */
type Person = Awaited<ReturnType<typeof signedIn>>;
let world: World;
let person: Person;
let shop: Shop;
let picture: Buffer;

const newItem = () => publishNew(world, shop, watch({ units: 9 }));
const PARENTS: Record<string, () => Promise<string>> = {
  item_id: newItem,
  integration_id: async () => (await addShop(world, person)).integrationId,
};
/** How to make what the second id names. */
const CHILDREN: Record<string, (parentId: string) => Promise<string>> = {
  sale_id: (itemId) => sellUnits(world.channel, COMMAND_LINE, person.organizationId, itemId, 1),
  promotion_id: (itemId) => startPromotion(world.channel, COMMAND_LINE, person.organizationId, itemId, PROMOTION),
  photo_id: async (itemId) => {
    const context = { ...world.channel, photoFiles: world.photoFiles };
    return await addPhoto(context, COMMAND_LINE, person.organizationId, itemId, picture);
  },
  reservation_id: async (itemId) => {
    const answer = await shop.post('/v1/reservations', { listing_id: itemId });
    assert.equal(answer.status, 201, answer.text);
    return answer.body.id;
  },
  delivery_id: testDelivery,
};
/** Pairs of which neither belongs to the other. */
const EQUALS = ['customer_id merged_id', 'item_id integration_id'];

const PROMOTION = { priceAmount: 1, startsAt: new Date(), endsAt: null };
const BODIES: Record<string, unknown> = {
  changeItemPromotion: { price_amount: 2, starts_at: new Date().toISOString(), ends_at: null },
};
/** What has to happen to the thing before the operation can be done. */
const BEFORE: Record<string, (path: string) => Promise<unknown>> = {
  restoreItemPhoto: (path) => person.call('DELETE', path.replace(/\/restore$/, '')),
};

async function testDelivery(integrationId: string): Promise<string> {
  const outbox = openOutbox();
  const endpoint = {
    integrationId,
    organizationId: person.organizationId,
    apiVersion: CURRENT_VERSION,
    isTestMode: false,
    url: 'http://127.0.0.1:9/nobody',
    subscriptions: ['*'],
    isSending: false,
  };
  const [type, object, createdAt] = ['integration.test_event' as const, {}, new Date()];
  const made = outbox.add(endpoint, { type, object, previous: undefined, createdAt, isSuppressed: false });
  await world.db.transaction(async (tx) => outbox.write(tx));
  return made.deliveryId ?? '';
}

const parametersOf = ({ path }: DashboardOperation) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
const operations: [id: string, operation: DashboardOperation][] = Object.entries(DASHBOARD_OPERATIONS);
const nested = operations.filter(([, operation]) => {
  const names = parametersOf(operation);
  return names.length > 1 && !EQUALS.includes(names.join(' '));
});

describe('an id in the path beside that of another parent', () => {
  before(async () => {
    world = await startWorld();
    person = await signedIn(world);
    shop = await addShop(world, person);
    picture = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
  });
  after(() => world.stop());

  it('is in the path of some operations', () => assert.ok(nested.length >= 8));

  for (const [id, operation] of nested) {
    it(`is not found by ${id}, and stays as it is`, async () => {
      const [parent = '', child = '', ...others] = parametersOf(operation);
      const [makeParent, makeChild] = [PARENTS[parent], CHILDREN[child]];
      assert.ok(makeParent !== undefined && makeChild !== undefined && others.length === 0, `teach the walk ${id}`);
      const [parentId, otherId] = [await makeParent(), await makeParent()];
      const childId = await makeChild(parentId);
      const pathOf = (of: string) => operation.path.replace(`{${parent}}`, of).replace(`{${child}}`, childId);
      await BEFORE[id]?.(pathOf(parentId));
      const ask = (of: string) => person.call(operation.method, pathOf(of), BODIES[id]);
      const wrong = await ask(otherId);
      assert.equal(wrong.status, 404, wrong.text);
      const right = await ask(parentId);
      assert.ok(right.status < 300, `${right.status} ${right.text}`);
    });
  }
});
