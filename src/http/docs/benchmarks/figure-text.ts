import type { Figure, FigureUnit, Wanted } from './figures-file.ts';
import { isMet } from './figures-file.ts';

/** Titles of the benches, in the order in which the page shows them. A bench that is missing here comes last, by its name. */
const BENCH_TITLES: Record<string, string> = {
  reads: 'Reads',
  writes: 'Writes',
  events: 'From a request to the receiver',
  webhooks: 'Deliveries',
  'mass-change': 'Mass changes',
  fairness: 'Beside another dealer who saturates the service',
  processes: 'Several processes against one',
  restarts: 'Rolling restarts',
  dashboard: 'Dashboard',
};

export function benchTitle(bench: string): string {
  return BENCH_TITLES[bench] ?? bench;
}

/** The figures of each bench, in the order of the page. */
export function byBench<Item extends { bench: string }>(figures: readonly Item[]): [bench: string, figures: Item[]][] {
  const order = Object.keys(BENCH_TITLES);
  const rank = (bench: string) => (order.includes(bench) ? order.indexOf(bench) : order.length);
  return [...Map.groupBy(figures, ({ bench }) => bench)].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b));
}

export function measure(value: number, unit: FigureUnit): string {
  switch (unit) {
    case '/s':
      return `${grouped(value)}/s`;
    case 'ms':
    case 's':
      return `${shortNumber(value)} ${unit}`;
    case 'failed':
      return `${grouped(value)} failed`;
  }
}

/** Three digits are enough to read; more would be noise. */
export function shortNumber(value: number): string {
  if (value >= 100) return grouped(value);
  return value.toFixed(value >= 10 ? 1 : 2);
}

export function wantedText(wanted: Wanted, unit: FigureUnit): string {
  const [sign, limit] = 'atLeast' in wanted ? ['≥', wanted.atLeast] : ['≤', wanted.atMost];
  // Without a break between the sign and the number.
  return `${sign}\u00a0${wanted.of === 'ratio' ? limit : measure(limit, unit)}`;
}

/** The class is the colour, the word says the same. */
export function verdictOf(figure: Figure): { tone: 'met' | 'missed' | 'free'; word: string } {
  const met = isMet(figure);
  if (met === null) return { tone: 'free', word: '' };
  return met ? { tone: 'met', word: 'met' } : { tone: 'missed', word: 'missed' };
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
