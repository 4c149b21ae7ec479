import { readFigures } from '../src/http/docs/benchmarks/figures-file.ts';
import { benchDashboard } from './dashboard.ts';
import { benchEvents } from './events.ts';
import { benchFairness } from './fairness.ts';
import { beginRun, saveFigures } from './figures.ts';
import { benchReads } from './reads.ts';
import { benchRestarts } from './restarts.ts';
import { runAll } from './run-all.ts';
import { benchProcesses } from './several-processes.ts';
import { benchWebhooks } from './webhooks.ts';
import { benchWrites } from './writes.ts';

type Bench = {
  run(args: string[]): Promise<void>;
  /** One line of the usage text. */
  what: string;
  /** With these, all its parts run. */
  whole?: string[];
};

const BENCHES: Record<string, Bench> = {
  reads: {
    run: benchReads,
    what: 'reads by id and by page, warm and cold; mass changes [--ids | --mass-changes | --request-log [--pairs=N]]',
  },
  writes: {
    run: benchWrites,
    what: 'every kind of write against the same rows by pgbench; 1,000 customers in one call',
  },
  events: {
    run: benchEvents,
    what: 'from a request to the receiver: accepted and delivered a second, and how long each takes',
  },
  webhooks: {
    run: benchWebhooks,
    what: 'deliveries against a bare loop of signed posts, and a queue of 100,000 [--large | --attempts [--pairs=N]]',
    whole: ['--large'],
  },
  fairness: {
    run: benchFairness,
    what: 'an integration alone, and beside another dealer who saturates the service [reads | orders | webhooks …]',
  },
  dashboard: {
    run: benchDashboard,
    what: 'lists and searches over many rows against few, a toggle, an import [part …]',
  },
  processes: { run: benchProcesses, what: 'one process against several (PROCESSES) [number]' },
  restarts: {
    run: benchRestarts,
    what: 'two nodes restarted in turn under load: no request may fail [DRAIN_SECONDS …]',
  },
};

const USAGE = `npm run bench                    every bench, one after the other (about half an hour)
npm run bench <name> [options]   one of them:

${Object.entries(BENCHES)
  .map(([name, { what }]) => `  ${name.padEnd(10)} ${what}`)
  .join('\n')}

Options come after two dashes: npm run bench reads -- --ids. The machine must be otherwise idle. Figures are printed and
written to src/http/docs/benchmarks/figures.json, which the page /docs/api/benchmarks shows; --print-only writes nothing.`;

const PRINT_ONLY = '--print-only';

const [name, ...rest] = process.argv.slice(2);
const bench = BENCHES[name ?? ''];
if (name === undefined) {
  const commands = Object.entries(BENCHES).map(([each, { whole = [] }]) => [each, ...whole]);
  process.exitCode = await runAll(commands, { onFailed: noteCrash });
} else if (bench === undefined) {
  const isAsked = ['help', '--help', '-h'].includes(name);
  (isAsked ? console.log : console.error)(USAGE);
  process.exitCode = isAsked ? 0 : 2;
} else {
  await runOne(name, bench, rest);
}

/** A bench that crashed or was stopped could not say so itself. */
function noteCrash(benchName: string, startedAt: Date, end: string): void {
  const hasSaid = readFigures().failures.some(
    ({ bench: failed, run }) => failed === benchName && run >= startedAt.toISOString(),
  );
  if (!hasSaid) saveFigures({ bench: benchName, run: beginRun()(), isWhole: false, failure: end });
}

/** A bench that fails leaves what it had recorded until then, and says so in the file. */
async function runOne(benchName: string, { run, whole = [] }: Bench, args: string[]): Promise<void> {
  const given = args.filter((argument) => argument !== PRINT_ONLY);
  const endRun = beginRun();
  let failure: string | null = null;
  try {
    await run(given);
  } catch (error) {
    console.error(error);
    failure = error instanceof Error ? error.message : String(error);
  }
  if (failure !== null) process.exitCode = 1;
  if (args.includes(PRINT_ONLY)) return;
  const isWhole = given.join(' ') === whole.join(' ');
  saveFigures({ bench: benchName, run: endRun(), isWhole, failure });
}
