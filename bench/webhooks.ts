import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSideSwitch } from './baselines/side-switch.ts';
import { limitOfRate, ratioAtLeast, ratioAtMost, record } from './figures.ts';
import { comparePairs, pairsOf } from './pairs.ts';
import { openStage } from './processes.ts';
import { median } from './shop.ts';
import { printTable } from './table.ts';
import { measureDelay } from './webhooks/delay.ts';
import { DRAIN_EVENTS, type Drained, drain, drainAtRest, restTables } from './webhooks/drain.ts';
import { FINISHED_ROWS, makeFinished } from './webhooks/finished-deliveries.ts';
import { compareWithJobs } from './webhooks/jobs.ts';
import {
  arrivals,
  bodies,
  ENDPOINTS,
  perSecond,
  queueEvents,
  rateOf,
  type Scene,
  setScene,
  settle,
} from './webhooks/scene.ts';

const ROUNDS = 3;
const ROUND_EVENTS = 30_000;
/** Few enough that ten pairs take less than four minutes. */
const PAIR_EVENTS = 15_000;
const SUSTAINED_WANTED = 0.6;
const SLOWER_WANTED = 1.2;

/**
 * Webhooks: the worker against a bare loop that signs and posts the same bodies to the same sink in the same run. With
 * `--attempts` instead one worker that keeps attempts and keeps none by turns, in `--pairs=N`.
 */
export async function benchWebhooks(args: string[]): Promise<void> {
  const stage = await openStage();
  try {
    const scene = await setScene(stage);
    if (args.includes('--attempts')) return await compareAttempts(scene, pairsOf(args));
    await compareWithBare(scene);
    await measureDelay(scene);
    const isLarge = args.includes('--large');
    const drained = await drainAtRest(scene, isLarge ? ROUNDS : 1);
    const rows = [['few', perSecond(drained.rate), drained.cpu, '']];
    if (isLarge) {
      console.log('Making a million finished deliveries …');
      await makeFinished(scene);
      const large = await drainAtRest(scene, ROUNDS);
      record({
        name: `draining ${DRAIN_EVENTS.toLocaleString('en-US')} queued, each`,
        unit: 'ms',
        ours: 1_000 / large.rate,
        growth: {
          of: 'finished deliveries beside them',
          points: [
            { size: 0, value: 1_000 / drained.rate },
            { size: FINISHED_ROWS, value: 1_000 / large.rate },
          ],
        },
        wanted: ratioAtMost(SLOWER_WANTED),
      });
      const slower = `${(drained.rate / large.rate).toFixed(2)} times (≤ ${SLOWER_WANTED} wanted)`;
      rows.push(['1,000,000', perSecond(large.rate), large.cpu, slower]);
    }
    printTable(
      'Draining 100,000 queued',
      ['finished rows beside them', 'webhooks /s', 'CPU a webhook: worker + PostgreSQL', 'slower'],
      rows,
    );
    await compareWithJobs(scene, drained.rate);
  } finally {
    await stage.end();
  }
}

async function compareWithBare(scene: Scene): Promise<void> {
  const bare: number[] = [];
  const ours: number[] = [];
  let last: Drained = { rate: 0, worker: 0, server: 0 };
  // Alternating rounds, so that a busy moment of the machine hits both.
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await postBare(scene));
    last = await drain(scene, ROUND_EVENTS);
    ours.push(last.rate);
  }
  const cpuMicroseconds = { service: last.worker, postgresql: last.server };
  record({
    name: 'deliveries, sustained',
    unit: '/s',
    ours: median(ours),
    bare: { name: 'a bare loop of signed posts', value: median(bare) },
    wanted: ratioAtLeast(SUSTAINED_WANTED),
    cpuMicroseconds,
    limitedBy: limitOfRate(median(ours), cpuMicroseconds),
  });
  printTable(
    `Sustained, ${ENDPOINTS} endpoints, bodies of ${(await bodies(scene.db, 1))[0]?.length} bytes`,
    ['bare undici /s', 'worker /s', 'ratio', 'wanted', 'CPU a webhook: worker + PostgreSQL'],
    [
      [
        perSecond(median(bare)),
        perSecond(median(ours)),
        (median(ours) / median(bare)).toFixed(2),
        `≥ ${SUSTAINED_WANTED}`,
        `${last.worker.toFixed(0)} + ${last.server.toFixed(0)} µs`,
      ],
    ],
  );
}

/** One worker that changes sides, on tables that are alike at each start: vacuumed and written out. */
async function compareAttempts(scene: Scene, pairs: number): Promise<void> {
  await settle(scene);
  await scene.stage.stop(scene.worker);
  const { process: worker } = await scene.stage.startService(scene.workerEnv, 'baselines/attempts-switch.ts');
  const switched = { ...scene, worker };
  const putOn = createSideSwitch(worker);
  await comparePairs('Webhooks that succeed at once, with and without what is kept of attempts', {
    pairs,
    unit: 'webhooks/s',
    lossWanted: 0.05,
    async measure(isWith) {
      await putOn(isWith);
      await restTables(switched);
      const drained = await drain(switched, PAIR_EVENTS);
      return { perSecond: drained.rate, cpuMicroseconds: drained.worker + drained.server };
    },
  });
}

async function postBare(scene: Scene): Promise<number> {
  const file = join(scene.stage.dir, 'bodies');
  const some = await bodies(scene.db, ROUND_EVENTS);
  if (some.length < ROUND_EVENTS) await queueEvents(scene, ROUND_EVENTS);
  await writeFile(file, (await bodies(scene.db, ROUND_EVENTS)).join('\n'));
  await settle(scene);
  await scene.stage.runScript('baselines/bare-poster.ts', [`${scene.sink}/hook`, file]);
  return rateOf(await arrivals(scene));
}
