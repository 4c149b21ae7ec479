const ROUNDS = 5;
/** So much work makes a measurement that the clock's own steps and a collection of garbage do not decide. */
const MEASURED_MS = 15;
const REPETITIONS_LIMIT = 5_000;

/** The CPU time of two pieces of work, in milliseconds for one run of each: best of five, measured in turns. */
export function cpuTimes(first: () => void, second: () => void): [number, number] {
  const repetitions = repetitionsFor(first);
  let best: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    best = [Math.min(best[0], cpuTime(first, repetitions)), Math.min(best[1], cpuTime(second, repetitions))];
  }
  return best;
}

/** Also warms the code up: what is measured afterwards is compiled. */
function repetitionsFor(work: () => void): number {
  let repetitions = 1;
  while (repetitions < REPETITIONS_LIMIT && cpuTime(work, repetitions) * repetitions < MEASURED_MS) repetitions *= 2;
  return repetitions;
}

function cpuTime(work: () => void, repetitions: number): number {
  const before = process.cpuUsage();
  for (let index = 0; index < repetitions; index++) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / repetitions;
}
