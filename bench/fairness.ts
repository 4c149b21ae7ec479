import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../src/db/sql.ts';
import { BARE_NAMES, bareLoadOf, CONNECTIONS, LEAD_MS, LOADS, type Load, loadOf } from './fairness/loud-dealer.ts';
import {
  NEIGHBOUR_PER_SECOND,
  neighbourTimes,
  type Quantiles,
  quantilesOf,
  type Times,
} from './fairness/neighbour-times.ts';
import { type Scene, setScene, takeLoopDelay } from './fairness/setup.ts';
import { ratioAtMost, record } from './figures.ts';
import type { LoopDelay } from './load/loop-delay.ts';
import { NEIGHBOUR_KINDS, type NeighbourKind } from './load/neighbour.ts';
import { openStage } from './processes.ts';
import { printTable } from './table.ts';

const ROUNDS = 2;
const P99_WANTED = 2;

/**
 * How long an integration's requests take alone, and beside another dealer's integration that saturates the service. The
 * load is a process of its own at nice 10: a real one would sit on another machine.
 */
export async function benchFairness(args: string[]): Promise<void> {
  const unknown = args.find((arg) => !LOADS.some((load) => load === arg));
  if (unknown !== undefined) throw new Error(`there is no load ${unknown}; loads are ${LOADS.join(', ')}`);
  const loads = LOADS.filter((load) => args.length === 0 || args.includes(load));
  const stage = await openStage();
  try {
    const scene = await setScene(stage);
    const rows: string[][] = [];
    for (const load of loads) rows.push(...(await compareLoad(scene, load)));
    printTable(
      `A neighbour with ${NEIGHBOUR_PER_SECOND} requests/s of each kind, alone and beside ${CONNECTIONS} connections of another dealer`,
      [
        'the other dealer',
        'neighbour',
        'alone p50',
        'beside p50',
        'alone p99',
        'beside p99',
        'p99 ratio',
        'wanted',
        'beside bare load',
      ],
      rows,
    );
    await scene.link.close();
  } finally {
    await stage.end();
  }
}

/** Alone, beside and beside bare load by turns, so that a busy moment of the machine hits all of them. */
async function compareLoad(scene: Scene, load: Load): Promise<string[][]> {
  const alone: Times = new Map();
  const beside: Times = new Map();
  const besideBare: Times = new Map();
  const delays: LoopDelay[] = [];
  let perSecond = 0;
  await neighbourTimes(scene, new Map());
  for (let round = 0; round < ROUNDS; round++) {
    await takeLoopDelay(scene);
    await neighbourTimes(scene, alone);
    const quiet = await takeLoopDelay(scene);
    perSecond = await during(scene, beside, () => loadOf(scene, load, scene.service.port));
    delays.splice(0, 2, quiet, await takeLoopDelay(scene));
    await during(scene, besideBare, () => bareLoadOf(scene, load));
  }
  const loud = `${perSecond.toLocaleString('en-US')} answers/s`;
  const [quiet = 0, busy = 0] = delays.map(({ p99Ms }) => p99Ms);
  const turn = `The p99 of the wait for a turn in the event loop is ${busy.toFixed(1)} ms, alone ${quiet.toFixed(1)} ms.`;
  console.log(`${load}: ${turn}`);
  return NEIGHBOUR_KINDS.map((kind) => {
    const times = [alone, beside, besideBare].map((each) => quantilesOf(each, kind)) as Compared;
    recordOf(load, kind, times, turn);
    return [`${load}, ${loud}`, kind, ...cellsOf(times)];
  });
}

/** Measures the neighbour while the load runs; answers the load's rate. */
async function during(scene: Scene, times: Times, load: () => Promise<number>): Promise<number> {
  const running = load();
  await sleep(LEAD_MS);
  await neighbourTimes(scene, times);
  const perSecond = await running;
  await settle(scene);
  return perSecond;
}

type Compared = [alone: Quantiles, beside: Quantiles, besideBare: Quantiles];

function recordOf(load: Load, kind: NeighbourKind, [alone, beside, besideBare]: Compared, turn: string): void {
  record({
    name: `${kind} beside ${load}, p99`,
    unit: 'ms',
    ours: beside.p99Ms,
    bare: { name: 'the same dealer alone', value: alone.p99Ms },
    wanted: ratioAtMost(P99_WANTED),
    latency: beside,
    limitedBy: `Beside bare load (${BARE_NAMES[load]}), it is ${(besideBare.p99Ms / alone.p99Ms).toFixed(1)} times that alone: so much is the machine’s. ${turn}`,
  });
}

function cellsOf([alone, beside, besideBare]: Compared): string[] {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const times = ({ p99Ms }: Quantiles) => (p99Ms / alone.p99Ms).toFixed(2);
  const p50s = [alone, beside].map(({ p50Ms }) => ms(p50Ms));
  const p99s = [alone, beside].map(({ p99Ms }) => ms(p99Ms));
  return [...p50s, ...p99s, times(beside), `≤ ${P99_WANTED}`, times(besideBare)];
}

async function settle({ context, sink }: Scene): Promise<void> {
  const waiting = sql`select id from deliveries where status in ('pending', 'failed') limit 1`;
  while ((await context.db.query(waiting)).length > 0) await sleep(50);
  await (await fetch(`${sink}/arrivals`)).arrayBuffer();
}
