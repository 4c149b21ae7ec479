import { printTable } from '../bench/table.ts';
import { BY_LOAD, harmOf } from './harm.ts';
import type { AttackResult } from './run.ts';

const MIB = 1024 * 1024;

const HEAD = [
  'attack',
  'answers',
  'a second',
  'p50 ms',
  'p99 ms',
  'failed',
  'pause ms',
  'busy ms',
  'memory MiB',
  'CPU s',
  'stolen %',
  'harm',
];

/** Prints the table and answers how many attacks did harm that is not the attacker's own load on the machine. */
export function report(results: AttackResult[]): number {
  printTable(
    'What a neighbour met in peace → (beside the same requests to a bare server) → under attack',
    HEAD,
    results.map(rowOf),
  );
  const harms = results.map(harmOf);
  const harmful = harms.filter((harm) => harm.some((one) => one !== BY_LOAD)).length;
  const byLoad = harms.filter((harm) => harm.includes(BY_LOAD)).length;
  const grown = results.reduce((most, { grownBytes }) => Math.max(most, grownBytes ?? 0), 0);
  console.log(`\n${harmful} of ${results.length} attacks did harm.`);
  console.log(
    `In ${byLoad} the neighbour was slow because the attacker's own process loads this machine ("${BY_LOAD}").`,
  );
  console.log(`The service grew by at most ${Math.round(grown / MIB)} MiB.`);
  return harmful;
}

/** One line of the table. */
export function rowOf(result: AttackResult): string[] {
  const { quiet, bare, attacked } = result;
  const statuses = [...result.statuses].map(([status, count]) => `${count}×${status === 0 ? 'none' : status}`);
  const p99s = [round(quiet.p99Ms), ...(bare === null ? [] : [`(${round(bare.p99Ms)})`]), round(attacked.p99Ms)];
  return [
    result.name,
    statuses.join(' '),
    rateOf(result),
    `${round(quiet.p50Ms)} → ${round(attacked.p50Ms)}`,
    p99s.join(' → '),
    `${attacked.failures} of ${attacked.requests}`,
    result.pauseMs === null ? '–' : String(Math.round(result.pauseMs)),
    result.busyMs === null ? '–' : String(Math.round(result.busyMs)),
    result.grownBytes === null ? '–' : `+${Math.round(result.grownBytes / MIB)}`,
    result.cpuMs === null ? '–' : round(result.cpuMs / 1_000),
    round(result.stolen * 100),
    harmOf(result).join(', ') || 'none',
  ];
}

/** How many answers the attacker had in a second, and how many bytes. */
function rateOf({ statuses, elapsedMs, answerBytes }: AttackResult): string {
  const answers = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  const perSecond = answers / Math.max(0.001, elapsedMs / 1_000);
  return answers === 0 ? '–' : `${round(perSecond)}, ${round((perSecond * answerBytes) / MIB)} MiB`;
}

function round(value: number): string {
  return value.toFixed(1);
}
