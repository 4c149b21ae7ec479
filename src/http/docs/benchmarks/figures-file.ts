import { existsSync, readFileSync } from 'node:fs';

/**
 * What `npm run bench` measured last. The benches write the file, the page shows it. It is committed, so that a fresh clone
 * shows figures of a real run; each figure names its run, and each run its machine, commit and time.
 */
export type FiguresFile = {
  /** By id. Only runs that a figure or a failure names. */
  runs: Record<string, BenchRun>;
  figures: RecordedFigure[];
  /** Benches whose last run failed. Their figures are those of an earlier run, or of the part before the failure. */
  failures: { bench: string; run: string; message: string }[];
};

export type BenchRun = {
  startedAt: string;
  seconds: number;
  commit: string;
  /** Whether files differed from the commit. */
  isModified: boolean;
  /** The machine's load average (1 minute) before the run: above about 0.5, something else was running. */
  loadBefore: number;
  /** The part of the processors' time that the host of a virtual machine took away meanwhile; older runs don't know it. */
  stolen?: number;
  machine: Machine;
};

export type Machine = {
  cores: number;
  processor: string;
  memoryMb: number;
  system: string;
  node: string;
  postgresql: string;
};

export type RecordedFigure = Figure & { bench: string; run: string };

export type Figure = {
  /** Unique in its bench: a later run replaces the figure of the same name. */
  name: string;
  unit: FigureUnit;
  ours: number;
  /** What the same machine does in the same run with nothing of the service in between. */
  bare?: { name: string; value: number };
  /** The same work on different amounts of data; `ours` is the last point. */
  growth?: { of: string; points: { size: number; value: number }[] };
  wanted?: Wanted;
  latency?: Latency;
  /** For each operation. */
  cpuMicroseconds?: { service: number; postgresql?: number };
  /** What keeps it from being better, as a sentence. */
  limitedBy?: string;
  /** What else a reader must know, as a sentence. */
  note?: string;
};

/** `/s` is better when higher; the others are better when lower. */
export type FigureUnit = '/s' | 'ms' | 's' | 'failed';

/** The aim, either for the ratio (against the bare limit, or of the last size against the first) or for the value itself. */
export type Wanted = { of: 'ratio' | 'value'; atLeast: number } | { of: 'ratio' | 'value'; atMost: number };

export type Latency = { p50Ms: number; p99Ms: number; longestMs?: number };

export const FIGURES_PATH = new URL('figures.json', import.meta.url);

/** Without a file, nothing was measured. */
export function readFigures(path: URL = FIGURES_PATH): FiguresFile {
  if (!existsSync(path)) return { runs: {}, figures: [], failures: [] };
  return JSON.parse(readFileSync(path, 'utf8')) as FiguresFile;
}

/** Ours divided by the bare limit; of a growth, the last size divided by the first. Null if it is compared with nothing. */
export function ratioOf({ ours, bare, growth }: Figure): number | null {
  const base = bare?.value ?? growth?.points[0]?.value;
  return base === undefined || base === 0 ? null : ours / base;
}

/** Null if nothing is wanted, or if there is nothing to compare with. */
export function isMet(figure: Figure): boolean | null {
  const { wanted } = figure;
  if (wanted === undefined) return null;
  const measured = wanted.of === 'ratio' ? ratioOf(figure) : figure.ours;
  if (measured === null) return null;
  return 'atLeast' in wanted ? measured >= wanted.atLeast : measured <= wanted.atMost;
}
