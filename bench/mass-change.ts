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

/** A new markup on every document of a channel: how fast it goes, and how long an order has to wait meanwhile. */
export async function benchMassChange(port: number, context: ChannelContext, shop: Shop, count: number): Promise<void> {
  const quiet: number[] = [];
  for (let index = 0; index < QUIET_ORDERS; index++) quiet.push(await orderTime(port, shop));

  const startedAt = performance.now();
  await changePresentation(context, COMMAND_LINE, shop.organizationId, shop.integrationId, {
    markupBasisPoints: 1_250,
  });
  const busy: number[] = [];
  while (!(await isDone(context, shop))) {
    if (performance.now() - startedAt > TIME_LIMIT_MS) throw new Error('the mass change did not end');
    busy.push(await orderTime(port, shop));
    await sleep(ORDER_EVERY_MS);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const valueAt = (values: number[], q: number) =>
    [...values].sort((a, b) => a - b)[Math.floor(values.length * q)] ?? 0;
  const quantile = (values: number[], q: number) => valueAt(values, q).toFixed(1);
  const latency = { p50Ms: valueAt(busy, 0.5), p99Ms: valueAt(busy, 0.99), longestMs: Math.max(...busy) };
  record({ name: `mass change of ${count} documents`, unit: '/s', ours: count / seconds });
  record({
    name: 'order during a mass change, p50',
    unit: 'ms',
    ours: latency.p50Ms,
    bare: { name: 'the same order, quiet', value: median(quiet) },
    wanted: ratioAtMost(ORDER_WANTED),
    latency,
  });
  printTable(
    `A new markup on ${count} documents`,
    ['documents /s', 'order, quiet (p50)', 'order, meanwhile (p50)', 'order, meanwhile (p99)'],
    [
      [
        String(Math.round(count / seconds)),
        `${median(quiet).toFixed(1)} ms`,
        `${quantile(busy, 0.5)} ms`,
        `${quantile(busy, 0.99)} ms`,
      ],
    ],
  );
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
