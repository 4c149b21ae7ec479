import { valuesOf } from '../../src/contract/catalogue.ts';
import { EVENT_TYPES } from '../../src/contract/event-types.ts';
import { randomText } from '../random.ts';
import { type Attack, type Scene, scaled } from './attack.ts';

const UNKNOWN_PARAMETER_BYTES = 15_000;
const NEVER_READING = 12;

/** Every list with every filter. An unknown parameter makes each request another one. */
function filteredPaths(): string[] {
  const long = '2020-01-01T00:00:00Z';
  const statuses = (path: string, values: readonly string[]) =>
    values.flatMap((status) => [`${path}?status=${status}`, `${path}?status=${status}&updated_after=${long}`]);
  return [
    ...statuses('/v1/listings', valuesOf('listing_status')),
    ...statuses('/v1/parts', valuesOf('part_status')),
    ...statuses('/v1/orders', valuesOf('order_status')),
    ...Object.keys(EVENT_TYPES).flatMap((type) => [
      `/v1/events?type=${type}`,
      `/v1/events?type=${type}&created_after=${long}`,
    ]),
  ].map((path) => `${path}&limit=250`);
}

function readEach(scene: Scene, paths: string[], atOnce: number): Promise<void> {
  const count = scaled(scene, 550);
  return scene.client.flood({ count, atOnce }, (index) => ({ path: `${paths[index % paths.length]}&x=${index}` }));
}

export const READ_ATTACKS: Attack[] = [
  {
    name: 'every list and filter at once',
    needs: 'events',
    run: (scene) => readEach(scene, filteredPaths(), 40),
  },
  {
    name: 'events of a type that hardly occurs',
    needs: 'events',
    run: (scene) => readEach(scene, ['/v1/events?type=order.cancelled&limit=250'], 40),
  },
  {
    name: 'huge pages, read at once',
    needs: 'large orders',
    run: (scene) => {
      const get = (index: number) => ({ path: `/v1/orders?limit=250&x=${index}` });
      return scene.client.flood({ count: scaled(scene, 36), atOnce: NEVER_READING }, get);
    },
  },
  {
    name: 'huge pages that nobody reads',
    needs: 'large orders',
    async run({ client, key }) {
      for (let index = 0; index < NEVER_READING; index++) {
        const socket = client.open();
        socket.pause();
        const path = `/api/v1/orders?limit=250&x=${index}`;
        socket.write(`GET ${path} HTTP/1.1\r\nHost: attack\r\nAuthorization: Bearer ${key}\r\n\r\n`);
      }
      await client.timeIsUp();
    },
  },
  {
    name: 'a cache filled by unknown parameters',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 550), atOnce: 8 }, () => ({
        path: `/v1/listings?limit=1&x=${randomText(scene.random, UNKNOWN_PARAMETER_BYTES)}`,
      })),
  },
];
