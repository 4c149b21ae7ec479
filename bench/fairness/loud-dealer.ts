import { writePlainly } from '../baselines/plain-writes.ts';
import type { LoadJob } from '../load/load-generator.ts';
import type { Shop } from '../shop.ts';
import { ROUND_SECONDS } from './neighbour-times.ts';
import { pathOf, type Scene } from './setup.ts';

export const CONNECTIONS = 64;
export const LEAD_MS = 1_000;
/** It begins before the neighbour and ends after it. */
const LOUD = { connections: CONNECTIONS, seconds: ROUND_SECONDS + (2 * LEAD_MS) / 1000, isLowPriority: true };

/** What the other dealer does, with as many connections as it likes. */
export const LOADS = ['reads', 'orders', 'webhooks'] as const;
export type Load = (typeof LOADS)[number];
export const BARE_NAMES: Record<Load, string> = {
  reads: 'a plain node:http server that sends the same bytes',
  orders: 'pgbench writing the same rows',
  webhooks: 'pgbench writing the same rows',
};

export async function loadOf({ stage, loud }: Scene, load: Load, port: number): Promise<number> {
  const result = await stage.load({ port, ...LOUD, work: workOf(loud, load) });
  if (result.failures > 0) throw new Error(`${result.failures} requests of the other dealer failed`);
  return result.perSecond;
}

/** The same load on the same machine, but not on the service: what the neighbour loses to it is lost to the machine. */
export async function bareLoadOf(scene: Scene, load: Load): Promise<number> {
  if (load === 'reads') return await loadOf(scene, load, scene.barePort);
  const { stage, address } = scene;
  const options = { dir: stage.dir, address, shopCount: 1, seconds: LOUD.seconds, isLowPriority: true };
  return (await writePlainly(load === 'orders' ? 'order' : 'event', options))?.perSecond ?? 0;
}

function workOf({ apiKey, listingIds }: Shop, load: Load): LoadJob['work'] {
  if (load !== 'reads') {
    return {
      kind: 'writes',
      write: load === 'orders' ? 'order' : 'ping',
      shops: [{ apiKey, listingIds, orderIds: [] }],
    };
  }
  return { kind: 'reads', headers: { Authorization: `Bearer ${apiKey}` }, paths: listingIds.map(pathOf) };
}
