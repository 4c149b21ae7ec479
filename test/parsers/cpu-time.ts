import assert from 'node:assert/strict';

/** So much work makes a measurement that the clock's own steps do not decide. */
const MEASURED_MS = 8;
/** Many systems count CPU time in units of this, so a thread may have used one more than they say. */
const CPU_UNIT_MS = 4;
const REPETITIONS_LIMIT = 5_000;
const ROUNDS = 5;
/**
 * Whatever else the machine does, and the collection of garbage, can only add to a time. More rounds bring the least of
 * each size closer to the truth, so they help a linear parser and never a quadratic one.
 */
const ROUNDS_LIMIT = 20;

/** CPU time of this thread for one run, in milliseconds: the least of some rounds. */
export type CpuTimes = { quarterMs: number; wholeMs: number };

/** Measures two pieces of work alternately: five rounds, and more until `isEnough` is content with the least of each. */
export function cpuTimes(quarter: () => void, whole: () => void, isEnough: (times: CpuTimes) => boolean): CpuTimes {
  const [quarterRepetitions, wholeRepetitions] = [repetitionsFor(quarter), repetitionsFor(whole)];
  const least = { quarterMs: Number.POSITIVE_INFINITY, wholeMs: Number.POSITIVE_INFINITY };
  for (let round = 1; round <= ROUNDS || (round <= ROUNDS_LIMIT && !isEnough(least)); round++) {
    least.quarterMs = Math.min(least.quarterMs, cpuTime(quarter, quarterRepetitions));
    least.wholeMs = Math.min(least.wholeMs, cpuTime(whole, wholeRepetitions));
  }
  return least;
}

/** Fails unless a piece of work costs less than a fifth of another one, which is measured beside it. */
export function assertMuchLess(work: () => void, other: () => void): void {
  const isMuchLess = ({ quarterMs, wholeMs }: CpuTimes) => quarterMs < wholeMs / 5;
  const times = cpuTimes(work, other, isMuchLess);
  assert.ok(isMuchLess(times), `${times.quarterMs.toFixed(4)} ms beside ${times.wholeMs.toFixed(4)} ms`);
}

/** Also warms the code up: what is measured afterwards is compiled. */
function repetitionsFor(work: () => void): number {
  let repetitions = 1;
  while (repetitions < REPETITIONS_LIMIT && cpuTime(work, repetitions) * repetitions < MEASURED_MS) repetitions *= 2;
  return repetitions;
}

/**
 * Of this thread alone: the compiler and the collector work in others beside it. Two bounds from above: the clock, which
 * is exact unless something else has the core meanwhile, and the time that the system counts for the thread.
 */
function cpuTime(work: () => void, repetitions: number): number {
  const before = process.threadCpuUsage();
  const startedAt = performance.now();
  for (let index = 0; index < repetitions; index++) work();
  const clockMs = performance.now() - startedAt;
  const { user, system } = process.threadCpuUsage(before);
  return Math.min(clockMs, (user + system) / 1_000 + CPU_UNIT_MS) / repetitions;
}
