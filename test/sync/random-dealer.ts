import sharp from 'sharp';
import { DomainError } from '../../src/contract/domain-error.ts';
import type { Reservation } from '../../src/contract/resources/reservation.ts';
import { sql } from '../../src/db/sql.ts';
import { createItem, editItem, setHidden } from '../../src/inventory/items/item-operations.ts';
import { addPhoto, orderPhotos, removePhoto } from '../../src/inventory/photos/photos.ts';
import { changePromotion, endPromotion, startPromotion } from '../../src/inventory/promotions.ts';
import { setPublished } from '../../src/inventory/publications.ts';
import { moveUnits, releaseUnits, reserveUnits } from '../../src/inventory/units/movements.ts';
import { deleteItem } from '../../src/sales/delete-item.ts';
import { expireDueReservations } from '../../src/sales/reservations/expire-reservations.ts';
import { sellUnits, voidSale } from '../../src/sales/sell.ts';
import { TESTER } from '../harness/actor.ts';
import { type Dice, dice } from '../harness/dice.ts';
import type { Shop } from '../harness/shop.ts';
import { part, watch } from '../harness/stock.ts';
import type { World } from '../harness/world.ts';
import { openRandomSettings } from './random-settings.ts';

/** A dealer with stock on several channels, who does one thing after the other; several writers may act at once. */
export type RandomDealer = {
  /** Does one random thing. What the dealer may not do is refused and is no fault. */
  act(random: Dice): Promise<void>;
};

/** Promotions of a run end while it goes on, or not before everybody has gone home. */
const SOON_MS = 500;
const LATER_MS = 3_600_000;
/** What a client is answered while its channel is detached. */
const DETACHED = 403;

export async function openRandomDealer(world: World, shops: Shop[], stock: number): Promise<RandomDealer> {
  const { channel } = world;
  const organizationId = shops[0]?.organizationId ?? '';
  const { locationId, changes } = await openRandomSettings(world, shops);
  const picture = await sharp({ create: { width: 4, height: 3, channels: 3, background: 'teal' } })
    .png()
    .toBuffer();
  const items: string[] = [];
  const sales: string[] = [];
  const promotions: string[] = [];
  const photos: { itemId: string; id: string }[] = [];
  const orders: { shop: Shop; id: string }[] = [];
  const reservations: (Reservation & { shop: Shop })[] = [];

  async function create(random: Dice): Promise<string> {
    const common = { locationId: random.roll(3) === 0 ? locationId : null };
    const item = random.roll(2) === 0 ? watch({ ...common, units: 1 + random.roll(2) }) : part(common);
    const id = await createItem(channel, TESTER, organizationId, item);
    items.push(id);
    return id;
  }
  const publish = (random: Dice, ids: string[], isOn: boolean) =>
    setPublished(channel, TESTER, organizationId, random.pick(shops).integrationId, ids, isOn);
  const several = (random: Dice) => Array.from({ length: 1 + random.roll(6) }, () => random.pick(items));
  const isOften = (random: Dice) => random.roll(3) > 0;
  function promotion(random: Dice) {
    const now = Date.now();
    const startsAt = new Date(random.pick([now - 1_000, now - 1_000, now + random.roll(SOON_MS)]));
    const endsAt = random.pick([null, new Date(now + SOON_MS + random.roll(300)), new Date(now + LATER_MS)]);
    return { priceAmount: 1_000 + random.roll(1_000), startsAt, endsAt };
  }
  async function order(random: Dice): Promise<void> {
    const shop = random.pick(shops);
    const id = random.pick(items);
    const line = id.startsWith('lst_') ? { listing_id: id } : { part_id: id };
    const reported = { channel_order_id: `SO-${Math.random()}`, lines: [{ ...line, quantity: 1, unit_amount: 100 }] };
    const { status, body } = await shop.post('/v1/orders', reported);
    if (status === DETACHED) return;
    if (status !== 201) throw new Error(`POST /v1/orders answers ${status} ${JSON.stringify(body)}`);
    orders.push({ shop, id: body.id });
  }
  async function reserve(random: Dice): Promise<void> {
    const shop = random.pick(shops);
    const id = random.pick(items);
    const item = id.startsWith('lst_') ? { listing_id: id } : { part_id: id, quantity: 1 + random.roll(2) };
    const { status, body } = await shop.post('/v1/reservations', item);
    if (status === 201) reservations.push({ shop, ...body });
    else if (![DETACHED, 404, 409].includes(status)) throw new Error(`a reservation of ${id} answers ${status}`);
  }
  /** An order takes it, or it is released, extended or over. */
  async function endReservation(random: Dice): Promise<void> {
    if (reservations.length === 0) return;
    const { shop, id, listing_id, part_id, quantity } = random.pick(reservations);
    const lines = [{ listing_id, part_id, quantity, reservation_id: id }];
    const answer = await random.pick([
      () => shop.post(`/v1/reservations/${id}/release`),
      () => shop.post(`/v1/reservations/${id}/extend`, { ttl_seconds: 60 }),
      () => shop.post('/v1/orders', { channel_order_id: `SO-${Math.random()}`, lines }),
      async () => {
        await world.db.query(sql`
          update reservations set expires_at = now() where id = ${id} and status = 'active'`);
        return await shop.api.get(`/v1/reservations/${id}`);
      },
    ])();
    if (![200, 201, DETACHED, 404, 409].includes(answer.status)) {
      throw new Error(`the end of ${id} answers ${answer.status} ${answer.text}`);
    }
  }
  async function cancelOrder(random: Dice): Promise<void> {
    if (orders.length === 0) return;
    const { shop, id } = random.pick(orders);
    const { status, body } = await shop.post(`/v1/orders/${id}/cancel`);
    if (status !== 200 && status !== DETACHED)
      throw new Error(`the cancel of ${id} answers ${status} ${JSON.stringify(body)}`);
  }

  async function photograph(random: Dice): Promise<void> {
    const context = { ...channel, photoFiles: world.photoFiles };
    const itemId = random.pick(items);
    photos.push({ itemId, id: await addPhoto(context, TESTER, organizationId, itemId, picture) });
  }
  async function removeOrTurnPhotos(random: Dice): Promise<void> {
    if (photos.length === 0) return;
    const { itemId, id } = random.pick(photos);
    const ids = photos.filter((photo) => photo.itemId === itemId).map((photo) => photo.id);
    if (random.roll(2) === 0) await removePhoto(channel, TESTER, organizationId, itemId, id);
    else await orderPhotos(channel, TESTER, organizationId, itemId, ids.reverse());
  }

  type Action = (random: Dice) => Promise<unknown>;
  /** Each with how often it comes. */
  const actions: [number, Action][] = [
    [
      8,
      (random) => editItem(channel, TESTER, organizationId, random.pick(items), { title: `Title ${random.roll(1e6)}` }),
    ],
    [4, (random) => editItem(channel, TESTER, organizationId, random.pick(items), { priceAmount: random.roll(1e6) })],
    [2, (random) => editItem(channel, TESTER, organizationId, random.pick(items), { units: random.roll(4) })],
    [3, async (random) => publish(random, [await create(random)], true)],
    [6, (random) => publish(random, several(random), isOften(random))],
    [4, (random) => publish(random, several(random), false)],
    [3, (random) => setHidden(channel, TESTER, organizationId, several(random), random.roll(2) === 0)],
    [2, (random) => deleteItem(channel, TESTER, organizationId, random.pick(items))],
    [4, async (random) => sales.push(await sellUnits(channel, TESTER, organizationId, random.pick(items), 1))],
    [2, async (random) => sales.length > 0 && voidSale(channel, TESTER, organizationId, random.pick(sales))],
    [2, (random) => reserveUnits(channel, TESTER, organizationId, random.pick(items), 1)],
    [2, (random) => releaseUnits(channel, TESTER, organizationId, random.pick(items), 1)],
    [
      4,
      (random) =>
        moveUnits(channel, TESTER, organizationId, random.pick(items), random.pick(['restock', 'fit', 'remove']), 1),
    ],
    [
      4,
      async (random) =>
        promotions.push(await startPromotion(channel, TESTER, organizationId, random.pick(items), promotion(random))),
    ],
    [
      2,
      async (random) =>
        promotions.length > 0 &&
        changePromotion(channel, TESTER, organizationId, random.pick(promotions), promotion(random)),
    ],
    [
      1,
      async (random) => promotions.length > 0 && endPromotion(channel, TESTER, organizationId, random.pick(promotions)),
    ],
    [1, (random) => editItem(channel, TESTER, organizationId, random.pick(items), { priceAmount: null })],
    [2, photograph],
    [1, removeOrTurnPhotos],
    [3, order],
    [1, cancelOrder],
    [4, reserve],
    [4, endReservation],
    [1, () => expireDueReservations(channel)],
    ...changes,
  ];
  const wheel = actions.flatMap(([weight, action]) => Array<Action>(weight).fill(action));

  const setUp = dice(1);
  for (let index = 0; index < stock; index++) await create(setUp);
  for (const shop of shops) await setPublished(channel, TESTER, organizationId, shop.integrationId, items, true);

  return {
    async act(random) {
      try {
        await random.pick(wheel)(random);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
      }
    },
  };
}
