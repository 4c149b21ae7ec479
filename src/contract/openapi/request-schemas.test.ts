import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { OPERATIONS } from '../operations.ts';
import { openapiDocument } from './openapi.ts';

const { createOrder, createReservation, pingWebhook, upsertCustomer } = OPERATIONS;

/** A generated client checks a body before it sends it: it must not refuse what the server takes, nor the other way round. */
describe('the schema of a request takes what the server takes', () => {
  let world: World;
  let shop: Shop;
  let listing: string;
  let spare: string;
  before(async () => {
    world = await startWorld();
    shop = await openShop(world, { isTestMode: true });
    listing = await publishNew(world, shop, watch());
    spare = await publishNew(world, shop, part());
  });
  after(() => world.stop());

  const { components } = openapiDocument('https://api.example.com');
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'openapi', components });

  async function assertAgree(path: string, name: string, body: object, isTaken: boolean): Promise<void> {
    const { status, text } = await shop.post(path, body);
    assert.equal(status < 300, isTaken, `the server: ${JSON.stringify(body)} → ${text}`);
    assert.equal(
      ajv.validate(`openapi#/components/schemas/${name}`, body),
      isTaken,
      `${name}: ${JSON.stringify(body)}`,
    );
  }

  it('for an order', async () => {
    let count = 0;
    const order = (fields: object, isTaken: boolean) => {
      count += 1;
      return assertAgree(createOrder.path, 'OrderInput', { channel_order_id: `SO-${count}`, ...fields }, isTaken);
    };
    const times = [
      '',
      '2026-05-08',
      '2026-05-08T09:00',
      '2026-05-08 09:00:00,5+0200',
      '2026-05-08t09:00:00.123456789z',
    ];
    for (const placed_at of [...times, null]) await order({ placed_at }, true);
    for (const placed_at of ['soon', '2026', '09:00', '2026-05-08T09:00:00Zurich']) await order({ placed_at }, false);
    for (const email of ['', null, 'a@b']) await order({ customer: { email } }, true);
    await order({ customer: { email: 'Ana <ana@example.ch>' } }, false);
    for (const line of [{}, { listing_id: listing, part_id: '' }, { listing_id: null, part_id: spare }]) {
      await order({ lines: [line] }, true);
    }
    await order({ lines: [{ listing_id: listing, part_id: spare }] }, false);
    await order({ shipping_address: { name: 'Ana', country: '' } }, true);
  });

  it('for a customer', async () => {
    const customer = (fields: object, isTaken: boolean) =>
      assertAgree(upsertCustomer.path, 'CustomerInput', fields, isTaken);
    await customer({ external_id: 'c_2', email: '', phone: '' }, true);
    await customer({ email: 'ana@münchen.example' }, true);
    await customer({ email: 'ana' }, false);
    await customer({ email: '', external_id: null }, false);
  });

  it('for a reservation', async () => {
    const reservation = (fields: object, isTaken: boolean) =>
      assertAgree(createReservation.path, 'ReservationInput', fields, isTaken);
    await reservation({ listing_id: listing }, true);
    await reservation({ listing_id: '', part_id: spare }, true);
    for (const nothing of [{}, { quantity: 1 }, { listing_id: null, part_id: '' }]) await reservation(nothing, false);
    await reservation({ listing_id: listing, part_id: spare }, false);
  });

  it('for a test event', async () => {
    const ping = (fields: object, isTaken: boolean) =>
      assertAgree(pingWebhook.path, 'WebhookPingInput', fields, isTaken);
    for (const body of [{}, { type: '', object_id: null }, { type: 'listing.sold', object_id: listing }]) {
      await ping(body, true);
    }
    for (const type of [undefined, null, '']) await ping({ type, object_id: listing }, false);
  });
});
