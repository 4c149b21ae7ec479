import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_LINE } from '../src/audit/actor.ts';
import type { ChannelContext } from '../src/channel/context.ts';
import { listJobs } from '../src/channel/jobs/channel-job-queue.ts';
import { changePresentation } from '../src/dealers/integrations/integration-settings.ts';
import { ratioAtMost, record } from './figures.ts';
import { median, type Shop } from './shop.ts';
import { printTable } from './table.ts';

const TIME_LIMIT_MS = 120_000;
const ORDER_EVERY_MS = 20;
const QUIET_ORDERS = 100;
/** How many times its quiet p50 an order may take meanwhile. */
const ORDER_WANTED = 3;

/** Two changes of every document of a channel: of its price alone, and of other fields, for which it is rendered anew. */
const CHANGES = [
  { what: 'prices', name: 'a new markup', settings: { markupBasisPoints: 1_250 } },
  { what: 'other fields', name: 'another image format', settings: { imageFormat: 'webp' } },
] as const;

/** How fast mass changes go, and how long an order has to wait meanwhile. */
export async function benchMassChanges(
  port: number,
  context: ChannelContext,
  shop: Shop,
  count: number,
): Promise<void> {
  const rows: string[][] = [];
  for (const { what, name, settings } of CHANGES) {
    const quiet: number[] = [];
    for (let index = 0; index < QUIET_ORDERS; index++) quiet.push(await orderTime(port, shop));
    const { seconds, busy } = await timeChange(port, context, shop, settings);
    const latency = { p50Ms: quantile(busy, 0.5), p99Ms: quantile(busy, 0.99), longestMs: Math.max(...busy) };
    record({ name: `mass change of ${count} documents: ${what}`, unit: '/s', ours: count / seconds });
    record({
      name: `order during a mass change of ${what}, p50`,
      unit: 'ms',
      ours: latency.p50Ms,
      bare: { name: 'the same order, quiet', value: median(quiet) },
      wanted: ratioAtMost(ORDER_WANTED),
      latency,
    });
    const times = [median(quiet), latency.p50Ms, latency.p99Ms].map((ms) => `${ms.toFixed(1)} ms`);
    rows.push([name, String(Math.round(count / seconds)), ...times]);
  }
  printTable(
    `Mass changes of ${count} documents`,
    ['change', 'documents /s', 'order, quiet (p50)', 'order, meanwhile (p50)', 'order, meanwhile (p99)'],
    rows,
  );
}

/** Orders come all the while; `busy` is how long each of them took. */
async function timeChange(
  port: number,
  context: ChannelContext,
  shop: Shop,
  settings: (typeof CHANGES)[number]['settings'],
): Promise<{ seconds: number; busy: number[] }> {
  const startedAt = performance.now();
  await changePresentation(context, COMMAND_LINE, shop.organizationId, shop.integrationId, settings);
  const busy: number[] = [];
  while (!(await isDone(context, shop))) {
    if (performance.now() - startedAt > TIME_LIMIT_MS) throw new Error('the mass change did not end');
    busy.push(await orderTime(port, shop));
    await sleep(ORDER_EVERY_MS);
  }
  return { seconds: (performance.now() - startedAt) / 1000, busy };
}

function quantile(values: number[], q: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * q)] ?? 0;
}

async function isDone(context: ChannelContext, shop: Shop): Promise<boolean> {
  const [job] = await listJobs(context.db, shop.organizationId, 1);
  return job?.status === 'done';
}

async function orderTime(port: number, shop: Shop): Promise<number> {
  const startedAt = performance.now();
  const id = crypto.randomUUID();
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${shop.apiKey}`, 'content-type': 'application/json', 'idempotency-key': id },
    body: JSON.stringify({ channel_order_id: id }),
  });
  if (response.status !== 201) throw new Error(`the order answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
  return performance.now() - startedAt;
}
