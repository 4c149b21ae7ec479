import { execFileSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { postgresBinaries } from '../src/db/embedded/embedded-binaries.ts';
import {
  type BenchRun,
  FIGURES_PATH,
  type Figure,
  type FiguresFile,
  readFigures,
  type Wanted,
} from '../src/http/docs/benchmarks/figures-file.ts';
import { watchStolenTime } from './stolen-time.ts';

/**
 * Every bench records its figures here, where it prints them: one call for each. `main.ts` writes them to the file that the
 * page in the docs shows.
 *
 *     record({ name: 'orders', unit: '/s', ours: 874, bare: { name: 'pgbench', value: 988 }, wanted: ratioAtLeast(1.2) });
 */
export function record(figure: Figure): void {
  recorded.push(figure);
}

/** The last of these digits is noise in every figure. */
const SIGNIFICANT_DIGITS = 4;

const recorded: Figure[] = [];

export const ratioAtLeast = (atLeast: number): Wanted => ({ of: 'ratio', atLeast });
export const ratioAtMost = (atMost: number): Wanted => ({ of: 'ratio', atMost });
export const valueAtMost = (atMost: number): Wanted => ({ of: 'value', atMost });

/** Above this share of a core, a process of Node has no more to give. */
const FULL_CORE = 0.85;
/** Above this share of all cores, the load generator takes what is left. */
const FULL_MACHINE = 0.7;

/** What limits a rate, from the CPU time that each operation took of the service and of PostgreSQL. */
export function limitOfRate(
  perSecond: number,
  { service, postgresql = 0 }: { service: number; postgresql?: number },
  cores = availableParallelism(),
): string {
  const [ofService, ofServer] = [(service * perSecond) / 1e6, (postgresql * perSecond) / 1e6];
  const used = `the service uses ${ofService.toFixed(2)} and PostgreSQL ${ofServer.toFixed(2)} of ${cores} cores`;
  if (ofService >= FULL_CORE) return `One core: ${used}, and a process of Node has one.`;
  if (ofService + ofServer >= FULL_MACHINE * cores) return `All cores: ${used}, and the load generator the rest.`;
  return `Not their CPU time: ${used}. They wait for commits on disk, for locks, or for cores that other programs have.`;
}

/** What a run measured, and how it ended. */
export type Measured = {
  bench: string;
  run: BenchRun;
  figures: Figure[];
  /** Whether the bench ran with all its parts, so that its figures of other names are gone. */
  isWhole: boolean;
  failure: string | null;
};

/** Writes what was recorded into the file. Figures of other benches stay as they are. */
export function saveFigures(measured: Omit<Measured, 'figures'>): void {
  const file = mergeFigures(readFigures(), { ...measured, figures: recorded.splice(0) });
  const path = fileURLToPath(FIGURES_PATH);
  writeFileSync(`${path}.new`, `${JSON.stringify(file, rounded, 2)}\n`);
  renameSync(`${path}.new`, path);
}

function rounded(_key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  return Number.isInteger(value) ? value : Number(value.toPrecision(SIGNIFICANT_DIGITS));
}

export function mergeFigures(file: FiguresFile, { bench, run, figures, isWhole, failure }: Measured): FiguresFile {
  const names = new Set(figures.map((figure) => figure.name));
  if (names.size < figures.length) throw new Error(`two figures of ${bench} have the same name`);
  const isReplaced = (old: FiguresFile['figures'][number]) =>
    old.bench === bench && (names.has(old.name) || (isWhole && failure === null));
  const id = `${run.startedAt} ${bench}`;
  const kept = {
    figures: [
      ...file.figures.filter((old) => !isReplaced(old)),
      ...figures.map((figure) => ({ bench, run: id, ...figure })),
    ],
    failures: [
      ...file.failures.filter((old) => old.bench !== bench),
      ...(failure === null ? [] : [{ bench, run: id, message: failure }]),
    ],
  };
  const named = new Set([...kept.figures, ...kept.failures].map((entry) => entry.run));
  const runs = Object.entries({ ...file.runs, [id]: run }).filter(([key]) => named.has(key));
  return { runs: Object.fromEntries(runs), ...kept };
}

/** Notes the machine and the commit; the answer, called at the end, says how long the run took. */
export function beginRun(): () => BenchRun {
  const startedAt = new Date();
  const [loadBefore = 0] = loadavg();
  const stolenTime = watchStolenTime();
  const commit = git(['rev-parse', 'HEAD']);
  // The figures themselves are changed by every run.
  const isModified = git(['status', '--porcelain', '--', '.', ':(exclude)*figures.json']) !== '';
  return () => ({
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    commit,
    isModified,
    loadBefore: Math.round(loadBefore * 100) / 100,
    stolen: stolenTime(),
    machine: {
      cores: availableParallelism(),
      processor: cpus()[0]?.model ?? 'unknown',
      memoryMb: Math.round(totalmem() / 1024 ** 2),
      system: `${type()} ${release()}`,
      node: process.versions.node,
      postgresql:
        execFileSync(postgresBinaries().postgres, ['--version'], { encoding: 'utf8' }).trim().split(' ').at(-1) ?? '',
    },
  });
}

/** Empty where there is no git, as in an archive of the sources. */
function git(args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}
