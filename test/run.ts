import { once } from 'node:events';
import { glob, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { globalSetup, globalTeardown } from './global-setup.ts';

/**
 * Runs the test files that are named, or all of them. Then the files in `src` run several to a process, one after the
 * other: a process needs one or two seconds of CPU time to load the application, and that was a third of a whole run. Those
 * in `test` mostly start services and browsers, and have a process each.
 */
const ROOT_DIR = join(import.meta.dirname, '..');
const GROUPS_DIR = join(ROOT_DIR, 'node_modules', '.cache', 'crownwheel-tests', 'groups');
/** Of a test, and of a file or group. */
const FILE_LIMIT_MS = 480_000;
/** So few that a group ends within the time limit, also on a busy machine. */
const FILES_IN_GROUP = 6;
/** They count CPU time; what ran before them leaves garbage that is collected while they do. */
const ALONE = ['src/concurrency/time-slices.test.ts', 'src/http/json/large-body.test.ts'];

const named = process.argv.slice(2);
const files = named.length > 0 ? named : await allFiles();
await globalSetup();
const results = run({
  files,
  cwd: ROOT_DIR,
  concurrency: 4,
  timeout: FILE_LIMIT_MS,
  execArgv: ['--import=./test/harness/run/leak-watchdog.ts'],
}).on('test:fail', () => {
  process.exitCode = 1;
});
results.compose(new spec()).pipe(process.stdout);
await once(results, 'end');
await globalTeardown();

/** What takes longest begins first, so that nothing is left to run alone at the end. In `src` that is `webhooks`, the last folder. */
async function allFiles(): Promise<string[]> {
  const shared = (await findFiles('src/**/*.test.ts')).filter((file) => !ALONE.includes(file));
  const groups = await writeGroups(shared);
  return [...(await findFiles('test/**/*.test.ts')), ...ALONE, ...groups.toReversed()];
}

async function findFiles(pattern: string): Promise<string[]> {
  return (await Array.fromAsync(glob(pattern, { cwd: ROOT_DIR }))).toSorted();
}

/** Writes a test file for each group, in which every file is a suite of its own, with its own hooks. */
async function writeGroups(all: string[]): Promise<string[]> {
  await rm(GROUPS_DIR, { recursive: true, force: true });
  await mkdir(GROUPS_DIR, { recursive: true });
  const groups: string[] = [];
  for (let start = 0; start < all.length; start += FILES_IN_GROUP) {
    const suites = all.slice(start, start + FILES_IN_GROUP).map((file) => {
      const url = pathToFileURL(join(ROOT_DIR, file)).href;
      return `describe(${JSON.stringify(file)}, async () => { await import(${JSON.stringify(url)}); });\n`;
    });
    const group = join(GROUPS_DIR, `${String(groups.length + 1).padStart(2, '0')}.test.mjs`);
    await writeFile(group, `import { describe } from 'node:test';\n${suites.join('')}`);
    groups.push(group);
  }
  return groups;
}
