import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { requestOf, type WriteShop } from './load-generator.ts';

/**
 * A dealer who wants nothing but to be served: reads and writes of several kinds at an even rate, whether or not the ones
 * before are answered.
 *
 * Runs as a process of its own: node bench/load/neighbour.ts <job file>; prints one line of JSON.
 */
export type NeighbourJob = {
  port: number;
  perSecond: number;
  seconds: number;
  shops: Record<NeighbourKind, WriteShop>;
};

/** Each kind has an integration of its own: a write would make the next read a cold one. */
export const NEIGHBOUR_KINDS = ['read by id', 'page of 50, not kept', 'order', 'webhook'] as const;
export type NeighbourKind = (typeof NEIGHBOUR_KINDS)[number];
/** Times since 1970, in milliseconds with fractions. Of a webhook the event's id, so that its receipt is found. */
export type NeighbourCall = { kind: NeighbourKind; eventId: string | null; startedMs: number; answeredMs: number };

const CONNECTIONS = 16;
/** The first requests open connections and fill caches. */
const WARM_UP_SHARE = 0.1;

const [jobFile = ''] = process.argv.slice(2);
if (jobFile.endsWith('neighbour.json')) {
  console.log(JSON.stringify(await runNeighbour(JSON.parse(readFileSync(jobFile, 'utf8')))));
}

async function runNeighbour({ port, perSecond, seconds, shops }: NeighbourJob): Promise<NeighbourCall[]> {
  const agent = new Agent({ connections: CONNECTIONS });
  const count = perSecond * seconds * NEIGHBOUR_KINDS.length;
  const beganMs = performance.now();
  const calls = Array.from({ length: count }, async (_, index): Promise<NeighbourCall> => {
    const kind = NEIGHBOUR_KINDS[index % NEIGHBOUR_KINDS.length] as NeighbourKind;
    const dueMs = beganMs + (index * 1000) / (perSecond * NEIGHBOUR_KINDS.length);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    return await call(agent, port, kind, shops[kind], index);
  });
  const all = await Promise.all(calls);
  await agent.close();
  return all.slice(Math.floor(count * WARM_UP_SHARE));
}

async function call(
  dispatcher: Agent,
  port: number,
  kind: NeighbourKind,
  shop: WriteShop,
  index: number,
): Promise<NeighbourCall> {
  const { path, body } = callOf(kind, shop, index);
  const startedMs = performance.timeOrigin + performance.now();
  const answer = await request(`http://127.0.0.1:${port}/api${path}`, {
    dispatcher,
    method: body === null ? 'GET' : 'POST',
    body: body === null ? null : JSON.stringify(body),
    headers: {
      authorization: `Bearer ${shop.apiKey}`,
      ...(body === null ? {} : { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() }),
    },
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${kind} was answered ${answer.statusCode}: ${text}`);
  const answeredMs = performance.timeOrigin + performance.now();
  const eventId = kind === 'webhook' ? (JSON.parse(text) as { event_id: string }).event_id : null;
  return { kind, eventId, startedMs, answeredMs };
}

function callOf(kind: NeighbourKind, shop: WriteShop, index: number): { path: string; body: object | null } {
  const listingId = shop.listingIds[index % shop.listingIds.length] ?? '';
  switch (kind) {
    case 'read by id':
      return { path: `/v1/listings/${listingId}`, body: null };
    case 'page of 50, not kept':
      // Orders of the same integration change its clock in between.
      return { path: '/v1/listings?limit=50', body: null };
    case 'order':
    case 'webhook': {
      const made = requestOf(kind === 'order' ? 'order' : 'ping', shop, crypto.randomUUID());
      if (made === null) throw new Error('there is nothing to order');
      return made;
    }
  }
}
