import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What the service and the build have to agree on: where the build lies, and from which sources it was made. */
const DASHBOARD_DIR = import.meta.dirname;
const ROOT_DIR = join(DASHBOARD_DIR, '..');
export const DIST_DIR = join(DASHBOARD_DIR, 'dist');
/** Holds the hash of the sources. It is written last, so a folder with it is whole. */
export const HASH_FILE = 'source-hash';

/** Everything that the pages are made from; the lockfile stands for all packages. */
const SOURCES = [
  'dashboard/src',
  'dashboard/public',
  'dashboard/index.html',
  'dashboard/vite.config.ts',
  'dashboard/build.ts',
  'src/contract',
  'src/http/style',
  'package-lock.json',
];

export function sourceHash(): string {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    for (const file of filesIn(join(ROOT_DIR, source))) {
      if (file.endsWith('.test.ts')) continue;
      hash
        .update(`${relative(ROOT_DIR, file)}\0`)
        .update(readFileSync(file))
        .update('\0');
    }
  }
  return hash.digest('hex');
}

/** The hash of what was built last; null if nothing was. */
function builtHash(): string | null {
  try {
    return readFileSync(join(DIST_DIR, HASH_FILE), 'utf8').trim();
  } catch {
    return null;
  }
}

export function isBuildCurrent(): boolean {
  return builtHash() === sourceHash();
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
