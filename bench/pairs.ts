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

type Rate = () => Promise<number>;

/**
 * Measures the same work with and without something, in pairs: what else the machine does then hits both. Which goes first
 * changes with each pair. A first pair warms up and does not count. Prints the median of the pairs' ratios.
 */
export async function comparePairs(
  title: string,
  {
    pairs,
    unit,
    lossWanted,
    withIt,
    without,
  }: Record<'withIt' | 'without', Rate> & {
    pairs: number;
    unit: string;
    /** The share that may be lost, such as 0.05. */
    lossWanted: number;
  },
): Promise<void> {
  const measured: { withIt: number; without: number }[] = [];
  for (let pair = 0; pair <= pairs; pair++) {
    const rates = { withIt: 0, without: 0 };
    const order = pair % 2 === 0 ? (['withIt', 'without'] as const) : (['without', 'withIt'] as const);
    for (const side of order) rates[side] = await (side === 'withIt' ? withIt : without)();
    if (pair > 0) measured.push(rates);
  }
  const ratios = measured.map((rates) => rates.withIt / rates.without);
  const shown = (rate: number) => Math.round(rate).toLocaleString('en-US');
  printTable(
    `${title}, ${pairs} pairs`,
    [`without, ${unit}`, `with, ${unit}`, 'median ratio', 'lowest and highest', 'lost', 'wanted'],
    [
      [
        shown(median(measured.map(({ without }) => without))),
        shown(median(measured.map(({ withIt }) => withIt))),
        median(ratios).toFixed(3),
        `${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`,
        `${((1 - median(ratios)) * 100).toFixed(1)} %`,
        `< ${lossWanted * 100} %`,
      ],
    ],
  );
}
