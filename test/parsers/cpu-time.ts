/** So much work makes a measurement that the clock's own steps do not decide. */
const MEASURED_MS = 15;
const REPETITIONS_LIMIT = 5_000;
const ROUNDS = 5;
/**
 * Whatever else the machine does, and the collection of garbage, can only add to a time. More rounds bring the least of
 * each size closer to the truth, so they help a linear parser and never a quadratic one.
 */
const ROUNDS_LIMIT = 20;

/** CPU time of this thread for one run, in milliseconds: the least of some rounds. */
export type CpuTimes = { halfMs: number; wholeMs: number };

/** Measures two pieces of work alternately: five rounds, and more until `isEnough` is content with the least of each. */
export function cpuTimes(half: () => void, whole: () => void, isEnough: (times: CpuTimes) => boolean): CpuTimes {
  const [halfRepetitions, wholeRepetitions] = [repetitionsFor(half), repetitionsFor(whole)];
  const least = { halfMs: Number.POSITIVE_INFINITY, wholeMs: Number.POSITIVE_INFINITY };
  for (let round = 1; round <= ROUNDS || (round <= ROUNDS_LIMIT && !isEnough(least)); round++) {
    least.halfMs = Math.min(least.halfMs, cpuTime(half, halfRepetitions));
    least.wholeMs = Math.min(least.wholeMs, cpuTime(whole, wholeRepetitions));
  }
  return least;
}

/** Also warms the code up: what is measured afterwards is compiled. */
function repetitionsFor(work: () => void): number {
  let repetitions = 1;
  while (repetitions < REPETITIONS_LIMIT && cpuTime(work, repetitions) * repetitions < MEASURED_MS) repetitions *= 2;
  return repetitions;
}

/** Of this thread alone: the compiler and the collector work in others beside it. */
function cpuTime(work: () => void, repetitions: number): number {
  const before = process.threadCpuUsage();
  for (let index = 0; index < repetitions; index++) work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000 / repetitions;
}
