import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = new URL('../../', import.meta.url).pathname;

/** A source file by its path from the root of the repository. */
export type SourceFile = { path: string; text: string };

/** The TypeScript of a folder, without its tests: those may reach for anything. */
export async function sourceFiles(folder: string): Promise<SourceFile[]> {
  const names = await readdir(join(ROOT, folder), { recursive: true }).catch(() => []);
  const paths = names
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
    .map((name) => join(folder, name))
    .sort();
  return await Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(ROOT, path), 'utf8') })));
}

export async function migrations(): Promise<string[]> {
  const names = (await readdir(join(ROOT, 'migrations'))).filter((name) => name.endsWith('.sql')).sort();
  return await Promise.all(names.map((name) => readFile(join(ROOT, 'migrations', name), 'utf8')));
}

export async function foldersOf(folder: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() || /(?<!\.test)\.ts$/.test(entry.name)).map(({ name }) => name);
}

/** What a file imports: paths from the root for files of the repository, and the names of packages. */
export function importsOf({ path, text }: SourceFile): string[] {
  const specifiers = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => specifier ?? '');
  return specifiers.map((specifier) =>
    specifier.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(path), specifier)) : specifier,
  );
}
