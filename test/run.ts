import { once } from 'node:events';
import { glob, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { globalSetup, globalTeardown } from './global-setup.ts';
import { onInterrupt } from './harness/run/run-watchdog.ts';

/**
 * Runs the test files that are named, or all of them. Then most of them run several to a process, one after the other: a
 * process needs one or two seconds of CPU time to load the application, and that was a third of a whole run. What starts
 * services, or measures a process, has one to itself.
 */
const ROOT_DIR = join(import.meta.dirname, '..');
/** Of a test, and of a file or group. */
const FILE_LIMIT_MS = 900_000;
/** So few that a group ends within the time limit, also on a busy machine. Those in `test` take longer. */
const GROUPS = [
  { pattern: 'src/**/*.test.ts', filesInGroup: 20 },
  { pattern: 'test/{audit,erasure,http,reads}/*.test.ts', filesInGroup: 9 },
  { pattern: 'test/dashboard/pages/*.test.ts', filesInGroup: 3 },
  {
    pattern: 'test/dashboard/{format,mailto,nested-ids,pages,parse-decimal,plain-error,tenancy,time-zone}.test.ts',
    filesInGroup: 8,
  },
];
/** They count CPU time or memory; what ran before them leaves garbage that is collected while they do. */
const ALONE = [
  'src/concurrency/time-slices.test.ts',
  'src/http/json/large-body.test.ts',
  'test/reads/large-pages.test.ts',
];

const named = process.argv.slice(2);
onInterrupt(globalTeardown);
await globalSetup();
const files = named.length > 0 ? named : await allFiles();
const results = run({
  files,
  cwd: ROOT_DIR,
  concurrency: 4,
  timeout: FILE_LIMIT_MS,
  execArgv: ['leak-watchdog', 'remembered-hashes'].map((name) => `--import=./test/harness/run/${name}.ts`),
}).on('test:fail', () => {
  process.exitCode = 1;
});
results.compose(new spec()).pipe(process.stdout);
await once(results, 'end');
await globalTeardown();

/** What takes longest begins first, so that nothing is left to run alone at the end. In `src` that is `webhooks`, the last folder. */
async function allFiles(): Promise<string[]> {
  // In the folder of this run: a second run beside it, in this checkout or one that shares its packages, has its own.
  const groupsDir = await mkdtemp(join(tmpdir(), 'groups-'));
  const grouped = new Set<string>();
  const groups: string[] = [];
  for (const { pattern, filesInGroup } of GROUPS) {
    const members = (await findFiles(pattern)).filter((file) => !ALONE.includes(file));
    for (let start = 0; start < members.length; start += filesInGroup) {
      const group = join(groupsDir, `${String(groups.length + 1).padStart(2, '0')}.test.mjs`);
      await writeGroup(group, members.slice(start, start + filesInGroup));
      groups.push(group);
    }
    for (const file of members) grouped.add(file);
  }
  const others = (await findFiles('{src,test}/**/*.test.ts')).filter((file) => !grouped.has(file));
  return [...others.toReversed(), ...groups.toReversed()];
}

async function findFiles(pattern: string): Promise<string[]> {
  return (await Array.fromAsync(glob(pattern, { cwd: ROOT_DIR }))).toSorted();
}

/** Writes a test file in which every file of the group is a suite of its own, with its own hooks. */
async function writeGroup(group: string, members: string[]): Promise<void> {
  const suites = members.map((file) => {
    const url = pathToFileURL(join(ROOT_DIR, file)).href;
    return `describe(${JSON.stringify(file)}, async () => { await import(${JSON.stringify(url)}); });\n`;
  });
  await writeFile(group, `import { describe } from 'node:test';\n${suites.join('')}`);
}
