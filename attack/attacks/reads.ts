import { valuesOf } from '../../src/contract/enumerations.ts';
import { EVENT_TYPES } from '../../src/contract/event-types.ts';
import { randomText } from '../random.ts';
import { type Attack, byKeyOf, type Scene, scaled } from './attack.ts';

const UNKNOWN_PARAMETER_BYTES = 15_000;
const NEVER_READING = 12;

/** Every list with every filter, with and without a time. */
function filteredPaths(): string[] {
  const statuses = (path: string, values: readonly string[]) =>
    values.flatMap((status) => [`${path}?status=${status}`, `${path}?status=${status}&updated_after=`]);
  return [
    ...statuses('/v1/listings', valuesOf('listing_status')),
    ...statuses('/v1/parts', valuesOf('part_status')),
    ...statuses('/v1/orders', valuesOf('order_status')),
    ...Object.keys(EVENT_TYPES).flatMap((type) => [
      `/v1/events?type=${type}`,
      `/v1/events?type=${type}&created_after=`,
    ]),
  ].map((path) => path.replace('?', '?limit=250&'));
}

/** A time, or an unknown parameter, makes each request another question; the time also for the cache. */
function readEach(scene: Scene, paths: string[], atOnce: number): Promise<void> {
  const count = scaled(scene, 550);
  return scene.client.flood({ count, atOnce }, (index) => {
    const path = paths[index % paths.length] as string;
    const question = scene.round * count + index;
    return { path: path.endsWith('=') ? path + timeOf(question) : `${path}&x=${question}` };
  });
}

/** Long ago, and another one for each number. */
function timeOf(question: number): string {
  return new Date(Date.UTC(2020, 0, 1) + question).toISOString();
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
    run: (scene) => readEach(scene, ['/v1/events?limit=250&type=order.cancelled&created_after='], 40),
  },
  {
    name: 'lists read by sixty integrations of one dealer',
    needs: 'many integrations',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 2_000), atOnce: scene.keys.length }, (index) => ({
        path: `/v1/orders?limit=250&updated_after=${timeOf(index)}`,
        headers: byKeyOf(scene, index),
      })),
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
