import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { addShop, openShop, type Shop } from '../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../test/harness/stock.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { EVENT_TYPES, type EventType } from '../contract/event-types.ts';
import { sql } from '../db/sql.ts';
import { changePresentation } from '../dealers/integrations/integration-settings.ts';
import { setPublished } from '../inventory/publications.ts';
import { cancelSale, confirmOrder, dismissOrder, fulfilOrder, matchLine } from './orders/order-operations.ts';
import { releaseReservation } from './reservations/dealer-reservations.ts';
import { expireDueReservations } from './reservations/expire-reservations.ts';
import { sellUnits } from './sell.ts';
import { subjectOf } from './test-mode/describe-test-event.ts';

/**
 * Who hears of what. One dealer, two websites with webhooks: the reporter, whose order it is, and the other one. A
 * client never hears of its own writes; everybody else does, and the dealer can see what was withheld.
 */
let world: World;
let reporter: Shop;
let other: Shop;
before(async () => {
  world = await startWorld();
  reporter = await openShop(world);
  other = await addShop(world, reporter);
  await world.db.query(sql`update webhook_endpoints set url = 'https://receiver.example/hook'`);
});
after(() => world.stop());

/** What a cause finds: a listing of one unit and a part of five on both channels, and the reporter's order, if any. */
type Scene = { listingId: string; partId: string; orderId: string };
type Heard = { announced?: string[]; withheld?: string[] };

let ordersMade = 0;
async function report(lines: object[], channelOrderId?: string): Promise<string> {
  ordersMade += 1;
  const { body } = await reporter.post('/v1/orders', { channel_order_id: channelOrderId ?? `SO-${ordersMade}`, lines });
  return body.id;
}
let reservationId = '';
async function reserve(body: object): Promise<void> {
  reservationId = (await reporter.post('/v1/reservations', body)).body.id;
}
/** Longer than a reservation of the default time. */
async function timePasses(): Promise<void> {
  world.setTime(new Date(Date.now() + 3_600_000));
}
const dealer = () => [world.channel, TESTER, reporter.organizationId] as const;
const confirm = ({ orderId }: Scene) => confirmOrder(...dealer(), orderId);
const fulfil = ({ orderId }: Scene) => fulfilOrder(...dealer(), orderId);

const ofListing = ({ listingId }: Scene) => [{ listing_id: listingId }];
const ofPart = ({ partId }: Scene) => [{ part_id: partId, quantity: 2 }];

type Cause = {
  what: string;
  /** The reporter's order, and what happened to it before. */
  order?: (scene: Scene) => object[];
  earlier?: ((scene: Scene) => Promise<unknown>)[];
  act: (scene: Scene) => Promise<unknown>;
  reporter: Heard;
  other: Heard;
};

const causes: Cause[] = [
  {
    what: 'the API reports an order of the last unit of a listing',
    act: (scene) => report(ofListing(scene)),
    reporter: { withheld: ['listing.updated'] },
    other: { announced: ['listing.updated'] },
  },
  {
    what: 'the API reports an order of some units of a part',
    act: (scene) => report(ofPart(scene)),
    reporter: { withheld: ['part.in_stock'] },
    other: { announced: ['part.in_stock'] },
  },
  {
    what: 'the API reports an order of the last units of a part',
    act: ({ partId }) => report([{ part_id: partId, quantity: 5 }]),
    reporter: { withheld: ['part.sold_out'] },
    other: { announced: ['part.sold_out'] },
  },
  {
    what: 'the API reports an order of both at once',
    act: (scene) => report([...ofListing(scene), ...ofPart(scene)]),
    reporter: { withheld: ['listing.updated', 'part.in_stock'] },
    other: { announced: ['listing.updated', 'part.in_stock'] },
  },
  {
    what: 'the API reports an order that matches nothing',
    act: () => report([{ title: 'Something' }]),
    reporter: {},
    other: {},
  },
  {
    what: 'the API reports an order whose id is taken',
    earlier: [() => report([], 'taken')],
    act: (scene) => report(ofListing(scene), 'taken'),
    reporter: {},
    other: {},
  },
  {
    what: 'the API cancels an order of a listing',
    order: ofListing,
    act: ({ orderId }) => reporter.post(`/v1/orders/${orderId}/cancel`),
    reporter: { withheld: ['listing.updated'] },
    other: { announced: ['listing.updated'] },
  },
  {
    what: 'the API cancels an order of a part',
    order: ofPart,
    act: ({ orderId }) => reporter.post(`/v1/orders/${orderId}/cancel`),
    reporter: { withheld: ['part.in_stock'] },
    other: { announced: ['part.in_stock'] },
  },
  {
    what: 'the API cancels an order a second time',
    order: ofListing,
    earlier: [({ orderId }) => reporter.post(`/v1/orders/${orderId}/cancel`)],
    act: ({ orderId }) => reporter.post(`/v1/orders/${orderId}/cancel`),
    reporter: {},
    other: {},
  },
  {
    what: 'the dealer confirms an order of a listing',
    order: ofListing,
    act: confirm,
    reporter: { withheld: ['listing.sold'] },
    other: { announced: ['listing.sold'] },
  },
  {
    what: 'the dealer confirms an order of a part, whose units were gone already',
    order: ofPart,
    act: confirm,
    reporter: {},
    other: {},
  },
  {
    what: 'the dealer fulfils an order',
    order: ofListing,
    earlier: [confirm],
    act: fulfil,
    reporter: { announced: ['order.fulfilled'] },
    other: {},
  },
  {
    what: 'the dealer dismisses an order',
    order: (scene) => [...ofListing(scene), ...ofPart(scene)],
    act: ({ orderId }) => dismissOrder(...dealer(), orderId, null),
    reporter: { announced: ['listing.updated', 'order.cancelled', 'part.in_stock'] },
    other: { announced: ['listing.updated', 'part.in_stock'] },
  },
  {
    what: 'the dealer cancels the sale of an order',
    order: ofListing,
    earlier: [confirm, fulfil],
    act: ({ orderId }) => cancelSale(...dealer(), orderId),
    reporter: { announced: ['listing.in_stock'] },
    other: { announced: ['listing.in_stock'] },
  },
  {
    what: 'the dealer matches a line by hand',
    order: () => [],
    act: ({ orderId, listingId }) => matchLine(...dealer(), orderId, { lineId: null, itemId: listingId, units: 1 }),
    reporter: { announced: ['listing.updated'] },
    other: { announced: ['listing.updated'] },
  },
  {
    what: 'the dealer sells over the counter',
    act: ({ listingId }) => sellUnits(...dealer(), listingId, 1),
    reporter: { announced: ['listing.sold'] },
    other: { announced: ['listing.sold'] },
  },
  {
    what: 'the API reserves the last unit of a listing',
    act: ({ listingId }) => reserve({ listing_id: listingId }),
    reporter: { withheld: ['listing.updated'] },
    other: { announced: ['listing.updated'] },
  },
  {
    what: 'the API reserves some units of a part',
    act: ({ partId }) => reserve({ part_id: partId, quantity: 2 }),
    reporter: { withheld: ['part.in_stock'] },
    other: { announced: ['part.in_stock'] },
  },
  {
    what: 'the API reserves more than there is',
    act: ({ partId }) => reserve({ part_id: partId, quantity: 6 }),
    reporter: {},
    other: {},
  },
  {
    what: 'the API extends a reservation',
    earlier: [({ listingId }) => reserve({ listing_id: listingId })],
    act: () => reporter.post(`/v1/reservations/${reservationId}/extend`, { ttl_seconds: 60 }),
    reporter: {},
    other: {},
  },
  {
    what: 'the API releases a reservation',
    earlier: [({ listingId }) => reserve({ listing_id: listingId })],
    act: () => reporter.post(`/v1/reservations/${reservationId}/release`),
    reporter: { withheld: ['listing.updated'] },
    other: { announced: ['listing.updated'] },
  },
  {
    what: 'the API reports an order that takes a reservation, whose units were gone already',
    earlier: [({ listingId }) => reserve({ listing_id: listingId })],
    act: ({ listingId }) => report([{ listing_id: listingId, reservation_id: reservationId }]),
    reporter: {},
    other: {},
  },
  {
    what: 'the API reports an order of other units than its line reserved',
    earlier: [({ partId }) => reserve({ part_id: partId, quantity: 3 })],
    act: ({ partId }) => report([{ part_id: partId, quantity: 1, reservation_id: reservationId }]),
    reporter: { withheld: ['part.in_stock'] },
    other: { announced: ['part.in_stock'] },
  },
  {
    what: 'the dealer releases a reservation',
    earlier: [({ listingId }) => reserve({ listing_id: listingId })],
    act: ({ listingId }) => releaseReservation(...dealer(), listingId, reservationId),
    reporter: { announced: ['listing.updated'] },
    other: { announced: ['listing.updated'] },
  },
  {
    what: 'the dealer releases a reservation and sells',
    earlier: [({ listingId }) => reserve({ listing_id: listingId })],
    act: ({ listingId }) => sellUnits(...dealer(), listingId, 1, { releasesReservations: true }),
    reporter: { announced: ['listing.sold'] },
    other: { announced: ['listing.sold'] },
  },
  {
    what: 'a reservation expires by the worker',
    earlier: [({ listingId }) => reserve({ listing_id: listingId }), timePasses],
    act: () => expireDueReservations(world.channel),
    reporter: { announced: ['listing.updated'] },
    other: { announced: ['listing.updated'] },
  },
  {
    what: 'a reservation has expired and the API reads the item',
    earlier: [({ partId }) => reserve({ part_id: partId, quantity: 2 }), timePasses],
    act: ({ partId }) => reporter.api.get(`/v1/parts/${partId}`),
    reporter: { announced: ['part.in_stock'] },
    other: { announced: ['part.in_stock'] },
  },
  {
    what: 'a reservation has expired and the API releases it',
    earlier: [({ listingId }) => reserve({ listing_id: listingId }), timePasses],
    act: () => reporter.post(`/v1/reservations/${reservationId}/release`),
    reporter: { announced: ['listing.updated'] },
    other: { announced: ['listing.updated'] },
  },
  {
    what: 'a reservation has expired and the API reserves one unit more',
    earlier: [({ partId }) => reserve({ part_id: partId, quantity: 3 }), timePasses],
    act: ({ partId }) => reserve({ part_id: partId, quantity: 1 }),
    reporter: { announced: ['part.in_stock'], withheld: ['part.in_stock'] },
    other: { announced: ['part.in_stock'] },
  },
  {
    what: 'a reservation has expired and its order takes the units all the same',
    earlier: [({ listingId }) => reserve({ listing_id: listingId }), timePasses],
    act: ({ listingId }) => report([{ listing_id: listingId, reservation_id: reservationId }]),
    reporter: {},
    other: {},
  },
  {
    what: 'the API pings',
    act: () => reporter.post('/v1/test/webhook_ping'),
    reporter: { announced: ['integration.test_event'] },
    other: {},
  },
  {
    what: 'the API upserts customers',
    act: async () => {
      await reporter.post('/v1/customers', { email: 'echo@example.ch' });
      await reporter.post('/v1/customers', { email: 'echo@example.ch', first_name: 'Echo' });
      await reporter.post('/v1/customers/bulk', { customers: [{ email: 'echo@example.ch' }, { email: 'b@c.ch' }] });
    },
    reporter: {},
    other: {},
  },
];

async function eventsOf(shop: Shop): Promise<Map<string, { type: string; isWithheld: boolean; deliveries: number }>> {
  const rows = await world.db.query<{ id: string; type: string; is_suppressed: boolean; deliveries: number }>(sql`
    select e.id, e.type, e.is_suppressed,
      (select count(*) from deliveries d where d.integration_id = e.integration_id and d.event_id = e.id) as deliveries
    from events e where e.integration_id = ${shop.integrationId}`);
  return new Map(rows.map((row) => [row.id, { ...row, isWithheld: row.is_suppressed }]));
}

async function listedIds(shop: Shop): Promise<string[]> {
  return (await shop.api.get('/v1/events?limit=250')).body.data.map((event: { id: string }) => event.id);
}

/** Which events were announced to one client, which were withheld from it, and that no list and no delivery says otherwise. */
async function heardBy(shop: Shop, known: Set<string>): Promise<Required<Heard>> {
  const fresh = [...(await eventsOf(shop))].filter(([id]) => !known.has(id));
  const listed = new Set(await listedIds(shop));
  for (const [id, event] of fresh) {
    assert.equal(listed.has(id), !event.isWithheld, `${event.type} in the list`);
    assert.equal(event.deliveries, event.isWithheld ? 0 : 1, `deliveries of ${event.type}`);
  }
  const types = (isWithheld: boolean) =>
    fresh.flatMap(([, event]) => (event.isWithheld === isWithheld ? [event.type] : [])).sort();
  return { announced: types(false), withheld: types(true) };
}

async function setScene({ order, earlier = [] }: Cause): Promise<Scene> {
  // What the causes before have reserved.
  await timePasses();
  await expireDueReservations(world.channel);
  world.setTime(null);
  const listingId = await publishNew(world, reporter, watch());
  const partId = await publishNew(world, reporter, part({ units: 5 }));
  await setPublished(world.channel, TESTER, other.organizationId, other.integrationId, [listingId, partId], true);
  const scene = { listingId, partId, orderId: '' };
  if (order !== undefined) scene.orderId = await report(order(scene));
  for (const step of earlier) await step(scene);
  return scene;
}

describe('echo suppression', () => {
  afterEach(() => world.setTime(null));

  for (const cause of causes) {
    it(`when ${cause.what}`, async () => {
      const scene = await setScene(cause);
      const known = await Promise.all([reporter, other].map(async (shop) => new Set((await eventsOf(shop)).keys())));
      await cause.act(scene);
      const [byReporter, byOther] = [
        await heardBy(reporter, known[0] ?? new Set()),
        await heardBy(other, known[1] ?? new Set()),
      ];
      assert.deepEqual(byReporter, { announced: [], withheld: [], ...cause.reporter }, 'the reporter');
      assert.deepEqual(byOther, { announced: [], withheld: [], ...cause.other }, 'the other one');
    });
  }

  it('withholds its own part only from a client whose order meets a change of the dealer’s that was not announced yet', async () => {
    const scene = await setScene({ what: '', act: async () => {}, reporter: {}, other: {} });
    const shops = [reporter, other];
    const known = await Promise.all(shops.map(async (shop) => new Set((await eventsOf(shop)).keys())));
    // The mass change that would announce the new prices has not come to these two items yet.
    for (const { organizationId, integrationId } of shops) {
      await changePresentation(world.channel, TESTER, organizationId, integrationId, { markupBasisPoints: 1_000 });
    }
    await report([...ofListing(scene), ...ofPart(scene)]);
    assert.deepEqual(await heardBy(reporter, known[0] ?? new Set()), {
      announced: ['listing.updated', 'part.updated'],
      withheld: ['listing.updated', 'part.in_stock'],
    });
    assert.deepEqual(await heardBy(other, known[1] ?? new Set()), {
      announced: ['listing.updated', 'part.in_stock', 'part.updated'],
      withheld: [],
    });
  });

  it('withholds no triggered event: the client that asked for it hears of it, and nobody else does', async () => {
    const scene = await setScene({ what: '', act: async () => {}, reporter: {}, other: {} });
    const test = await addShop(world, reporter, { isTestMode: true });
    await world.db.query(sql`
      update webhook_endpoints set url = 'https://receiver.example/hook' where integration_id = ${test.integrationId}`);
    const items = [scene.listingId, scene.partId];
    await setPublished(world.channel, TESTER, test.organizationId, test.integrationId, items, true);
    const { body: order } = await test.post('/v1/orders', { channel_order_id: 'SO-1', lines: ofListing(scene) });
    const objects = { listing: scene.listingId, part: scene.partId, order: order.id, integration: null };
    for (const type of Object.keys(EVENT_TYPES) as EventType[]) {
      const shops = [reporter, other, test];
      const known = await Promise.all(shops.map(async (shop) => new Set((await eventsOf(shop)).keys())));
      const body = { type, object_id: objects[subjectOf(type)] };
      assert.equal((await test.post('/v1/test/webhook_ping', body)).status, 200, type);
      for (const [index, shop] of shops.entries()) {
        const announced = shop === test ? [type] : [];
        assert.deepEqual(await heardBy(shop, known[index] ?? new Set()), { announced, withheld: [] }, type);
      }
    }
  });

  it('withholds nothing of a test order, because it does nothing', async () => {
    const scene = await setScene({ what: '', act: async () => {}, reporter: {}, other: {} });
    const test = await addShop(world, reporter, { isTestMode: true });
    await setPublished(world.channel, TESTER, test.organizationId, test.integrationId, [scene.listingId], true);
    const shops = [reporter, other, test];
    const known = await Promise.all(shops.map(async (shop) => new Set((await eventsOf(shop)).keys())));
    const { body } = await test.post('/v1/orders', { channel_order_id: 'SO-1', lines: ofListing(scene) });
    await confirmOrder(world.channel, TESTER, test.organizationId, body.id);
    await cancelSale(world.channel, TESTER, test.organizationId, body.id);
    for (const [index, shop] of shops.entries()) {
      assert.deepEqual(await heardBy(shop, known[index] ?? new Set()), { announced: [], withheld: [] });
    }
  });
});
