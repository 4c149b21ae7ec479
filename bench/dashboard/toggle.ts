import { sql } from '../../src/db/sql.ts';
import { itemIdOf } from '../../test/harness/database/many-rows.ts';
import { record, valueAtMost } from '../figures.ts';
import { median } from '../shop.ts';
import { printTable } from '../table.ts';
import type { BenchDealer } from './dealer.ts';

const TOGGLES = 100;
const WANTED_MS = 50;
/** Of five items in a row, one is on no channel. */
const ITEM_STEP = 5;

/** From the request that a click sends to its answer, which comes after the commit that holds the event. */
export async function measureToggle(dealer: BenchDealer): Promise<void> {
  const times: number[] = [];
  const before = await countEvents(dealer);
  for (let number = 1; number <= TOGGLES; number++) {
    const itemId = itemIdOf(dealer, number * ITEM_STEP);
    const startedAt = performance.now();
    await dealer.ask('PUT', `/stock/${itemId}/channels/${dealer.integrationId}`, { is_on: false });
    times.push(performance.now() - startedAt);
  }
  const events = (await countEvents(dealer)) - before;
  const p50 = median(times);
  const sorted = [...times].sort((a, b) => a - b);
  record({
    name: 'toggle of an item on a channel, p50',
    unit: 'ms',
    ours: p50,
    wanted: valueAtMost(WANTED_MS),
    latency: { p50Ms: p50, p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0, longestMs: sorted.at(-1) ?? 0 },
  });
  printTable(
    `A toggle, from the request to the committed event; p50 below ${WANTED_MS} ms is wanted`,
    ['toggles', 'events', 'p50', 'slowest', ''],
    [[String(TOGGLES), String(events), ms(p50), ms(Math.max(...times)), p50 < WANTED_MS ? '' : 'over']],
  );
}

async function countEvents({ context, integrationId }: BenchDealer): Promise<number> {
  const [row] = await context.db.query<{ count: number }>(sql`
    select count(*)::integer as count from events where integration_id = ${integrationId} and type = 'listing.unpublished'`);
  return row?.count ?? 0;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
