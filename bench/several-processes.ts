import { availableParallelism } from 'node:os';
import { record } from './figures.ts';
import { openStage, type Stage } from './processes.ts';
import { makeShop, median, openBackDoor, type Shop } from './shop.ts';
import { printTable } from './table.ts';

const SECONDS = 5;
const WARM_UP_SECONDS = 3;
const CONNECTIONS = 64;
const LISTINGS = 1_000;
const SHOPS = 4;
const ROUNDS = 3;

/**
 * The same service with one process and with several, one after the other: warm reads by id and orders. The load generator
 * and PostgreSQL take their share of the same cores, so on few cores the gain is smaller than the number of processes.
 * `npm run bench processes -- 4` compares with four; without a number, with one for each core.
 */
export async function benchProcesses(args: string[]): Promise<void> {
  const several = Number(args.find((arg) => /^\d+$/.test(arg)) ?? Math.max(2, availableParallelism()));
  const stage = await openStage();
  const rates = new Map<string, number[]>();
  try {
    let shops: Shop[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (const processes of [1, several]) {
        // Each as it runs by default: one process counts the rate limit in memory, several count it in the database.
        const env = { PROCESSES: String(processes), ROLES: 'api,worker' };
        const service = await stage.startService(env);
        if (shops.length === 0) shops = await makeShops(service);
        for (const [kind, perSecond] of await measure(stage, service.port, shops)) {
          const key = `${kind} ${processes}`;
          rates.set(key, [...(rates.get(key) ?? []), perSecond]);
        }
        await stage.stop(service.process);
      }
    }
    const rateOf = (kind: string, processes: number) => median(rates.get(`${kind} ${processes}`) ?? []);
    printTable(
      `One process and ${several}, ${availableParallelism()} cores, ${CONNECTIONS} connections, median of ${ROUNDS} rounds`,
      ['what', '1 process /s', `${several} processes /s`, 'ratio'],
      ['reads by id', 'orders'].map((kind) => {
        const [one, more] = [rateOf(kind, 1), rateOf(kind, several)];
        record({
          name: `${kind}, ${several} processes`,
          unit: '/s',
          ours: more,
          bare: { name: 'one process', value: one },
          limitedBy: `PostgreSQL and the load generator share the ${availableParallelism()} cores. With several processes PostgreSQL also counts the rate limit.`,
        });
        return [kind, String(one), String(more), (more / one).toFixed(2)];
      }),
    );
  } finally {
    await stage.end();
  }
}

async function makeShops(service: Parameters<typeof openBackDoor>[0]): Promise<Shop[]> {
  const { link, context } = await openBackDoor(service);
  const shops: Shop[] = [];
  for (let index = 0; index < SHOPS; index++) shops.push(await makeShop(context, LISTINGS));
  await link.close();
  return shops;
}

async function measure(stage: Stage, port: number, shops: Shop[]): Promise<[string, number][]> {
  const [first] = shops;
  if (first === undefined) throw new Error('there is no shop to read');
  const reads = {
    kind: 'reads' as const,
    headers: { Authorization: `Bearer ${first.apiKey}` },
    paths: first.listingIds.map((id) => `/api/v1/listings/${id}`),
  };
  const orders = {
    kind: 'writes' as const,
    write: 'order' as const,
    shops: shops.map(({ apiKey, listingIds }) => ({ apiKey, listingIds, orderIds: [] })),
  };
  const load = { port, connections: CONNECTIONS };
  await stage.load({ ...load, seconds: WARM_UP_SECONDS, work: reads });
  const results: [string, number][] = [];
  for (const [kind, work] of [
    ['reads by id', reads],
    ['orders', orders],
  ] as const) {
    const { perSecond, failures } = await stage.load({ ...load, seconds: SECONDS, work });
    if (failures > 0) throw new Error(`${failures} requests failed`);
    results.push([kind, perSecond]);
  }
  return results;
}
