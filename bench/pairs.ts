import { median } from './shop.ts';
import { printTable } from './table.ts';

const PAIRS_DEFAULT = 10;

/** How many pairs `--pairs=N` asks for. */
export function pairsOf(args: string[]): number {
  const given = args.find((argument) => argument.startsWith('--pairs='))?.slice('--pairs='.length);
  const pairs = given === undefined ? PAIRS_DEFAULT : Number(given);
  if (!Number.isInteger(pairs) || pairs < 1) throw new Error(`--pairs must be a whole number from 1; it is "${given}"`);
  return pairs;
}

/** What a run of the work gave: its rate, and what it cost all processes that are not the load itself. */
export type Measured = { perSecond: number; cpuMicroseconds: number };

/**
 * Measures the same work with and without something, in pairs: what else the machine does then hits both. Which goes first
 * changes with each pair. A first pair warms up and does not count. Prints the medians of the pairs' ratios. The ratio of CPU
 * time hardly depends on what else the machine does; that of the rates does.
 */
export async function comparePairs(
  title: string,
  {
    pairs,
    unit,
    lossWanted,
    measure,
  }: {
    pairs: number;
    unit: string;
    /** The share that may be lost, such as 0.05. */
    lossWanted: number;
    measure(isWith: boolean): Promise<Measured>;
  },
): Promise<void> {
  const withIt: Measured[] = [];
  const without: Measured[] = [];
  for (let pair = 0; pair <= pairs; pair++) {
    for (const isWith of pair % 2 === 0 ? [true, false] : [false, true]) {
      const measured = await measure(isWith);
      if (pair > 0) (isWith ? withIt : without).push(measured);
    }
  }
  const ratiosOf = (of: (measured: Measured) => number) =>
    withIt.map((measured, index) => of(measured) / of(without[index] as Measured));
  const rates = ratiosOf(({ perSecond }) => perSecond);
  const medianOf = (side: Measured[], name: keyof Measured) =>
    Math.round(median(side.map((measured) => measured[name]))).toLocaleString('en-US');
  printTable(
    `${title}, ${pairs} pairs`,
    [
      `without, ${unit}`,
      `with, ${unit}`,
      'median ratio',
      'lowest and highest',
      'lost',
      'wanted',
      'CPU each',
      'CPU ratio',
    ],
    [
      [
        medianOf(without, 'perSecond'),
        medianOf(withIt, 'perSecond'),
        median(rates).toFixed(3),
        `${Math.min(...rates).toFixed(3)} to ${Math.max(...rates).toFixed(3)}`,
        `${((1 - median(rates)) * 100).toFixed(1)} %`,
        `< ${lossWanted * 100} %`,
        `${medianOf(without, 'cpuMicroseconds')} and ${medianOf(withIt, 'cpuMicroseconds')} µs`,
        median(ratiosOf(({ cpuMicroseconds }) => cpuMicroseconds)).toFixed(3),
      ],
    ],
  );
}
