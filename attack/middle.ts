import type { Served } from './neighbour.ts';
import type { AttackResult } from './run.ts';

/** Three measurements of one attack as one: what the neighbour met in the middle one, and the worst of all else. */
export function middleOf(results: [AttackResult, AttackResult, AttackResult]): AttackResult {
  const failures = results.reduce((sum, { attacked }) => sum + attacked.failures, 0);
  const bare = results.map((result) => result.bare).filter((served) => served !== null);
  return {
    ...results[0],
    quiet: middleServed(results.map(({ quiet }) => quiet)),
    attacked: { ...middleServed(results.map(({ attacked }) => attacked)), failures },
    bare: bare.length === 0 ? null : middleServed(bare),
    pauseMs: worst(results.map(({ pauseMs }) => pauseMs)),
    busyMs: worst(results.map(({ busyMs }) => busyMs)),
    grownBytes: worst(results.map(({ grownBytes }) => grownBytes)),
    stolen: Math.max(...results.map(({ stolen }) => stolen)),
  };
}

/** Of two, the lower one: a higher p99 beside the bare server would excuse more. */
function middleServed(served: Served[]): Served {
  const sorted = served.toSorted((a, b) => a.p99Ms - b.p99Ms);
  return sorted[Math.floor((sorted.length - 1) / 2)] as Served;
}

function worst(figures: (number | null)[]): number | null {
  const known = figures.filter((figure) => figure !== null);
  return known.length === 0 ? null : Math.max(...known);
}
