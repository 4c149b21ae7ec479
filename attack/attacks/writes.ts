import { BULK_RECORDS_LIMIT, ORDER_LINES_LIMIT, STRING_LENGTH_LIMIT } from '../../src/contract/limits.ts';
import { type Attack, byKeyOf, idempotent, madeOnce, type Scene, scaled } from './attack.ts';

const largeLines = madeOnce(() => {
  const title = '\u0001'.repeat(STRING_LENGTH_LIMIT);
  return JSON.stringify(Array.from({ length: ORDER_LINES_LIMIT }, () => ({ title, unit_amount: 1 })));
});

/** A legal order of 0.6 MB: each control character takes six bytes of JSON. */
export function largeOrder(channelOrderId: string): string {
  return `{"channel_order_id":"${channelOrderId}","lines":${largeLines()}}`;
}

function smallOrder(channelOrderId: string): string {
  return JSON.stringify({ channel_order_id: channelOrderId, lines: [{ title: 'A strap', unit_amount: 1 }] });
}

function nameOf({ round }: Scene, index: number): string {
  return `${process.pid}-${round}-${index}`;
}

const largeBulk = madeOnce(() => {
  const text = 'x'.repeat(STRING_LENGTH_LIMIT);
  const address = { name: text, line1: text, line2: text, city: text, state: text, postal_code: text };
  const customers = Array.from({ length: BULK_RECORDS_LIMIT }, (_, index) => ({
    external_id: `large-${index}`,
    first_name: text,
    last_name: text,
    company: text,
    address,
  }));
  return JSON.stringify({ customers });
});

export const WRITE_ATTACKS: Attack[] = [
  {
    name: 'one idempotency key for all requests',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 290), atOnce: 50 }, (index) => ({
        method: 'POST',
        path: '/v1/customers',
        headers: idempotent(`the same key in round ${scene.round}`),
        body: JSON.stringify({ external_id: `key-${index % 2}` }),
      })),
  },
  {
    name: 'one customer for all requests',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 290), atOnce: 50 }, (index) => ({
        method: 'POST',
        path: '/v1/customers',
        headers: idempotent(),
        body: JSON.stringify({ external_id: 'the same customer', first_name: `${index}` }),
      })),
  },
  {
    name: 'orders and customers of sixty integrations of one dealer',
    needs: 'many integrations',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 2_000), atOnce: 2 * scene.keys.length }, (index) => ({
        method: 'POST',
        path: index % 2 === 0 ? '/v1/orders' : '/v1/customers',
        headers: { ...byKeyOf(scene, index >> 1), ...idempotent() },
        body:
          index % 2 === 0 ? smallOrder(nameOf(scene, index)) : JSON.stringify({ external_id: nameOf(scene, index) }),
      })),
  },
  {
    name: 'large bulks of the same customers',
    prepare: () => void largeBulk(),
    run: (scene) => {
      const body = largeBulk();
      return scene.client.flood({ count: scaled(scene, 40), atOnce: 8 }, () => ({
        method: 'POST',
        path: '/v1/customers/bulk',
        headers: idempotent(),
        body,
      }));
    },
  },
  {
    name: 'storage filled by large orders',
    prepare: () => void largeLines(),
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 100), atOnce: 8 }, (index) => ({
        method: 'POST',
        path: '/v1/orders',
        headers: idempotent(),
        body: largeOrder(`fill-${nameOf(scene, index)}`),
      })),
  },
  {
    name: 'orders of two hundred listings each',
    needs: 'many units',
    run: (scene) => {
      const lines = JSON.stringify(scene.listingIds.map((listing_id) => ({ listing_id })));
      return scene.client.flood({ count: scaled(scene, 290), atOnce: 50 }, (index) => ({
        method: 'POST',
        path: '/v1/orders',
        headers: idempotent(),
        body: `{"channel_order_id":"wide-${nameOf(scene, index)}","lines":${lines}}`,
      }));
    },
  },
  {
    name: 'cancellations of large orders that are cancelled',
    needs: 'large cancelled orders',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 290), atOnce: 50 }, (index) => ({
        method: 'POST',
        path: `/v1/orders/${scene.orderIds[index % scene.orderIds.length]}/cancel`,
        headers: idempotent(),
        body: '{}',
      })),
  },
];
