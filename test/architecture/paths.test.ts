import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { sourceFiles } from './source-files.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const FOLDERS = ['attack', 'bench', 'dashboard', 'decisions', 'examples', 'migrations', 'src', 'test'];
/** Text in backticks is a path if it ends like a folder or a source file, or begins with a folder of the repository. */
const PATH = new RegExp(`^[\\w.-]+(/[\\w.-]+)*(/|\\.(tsx?|css|md|mjs|sql))$|^(${FOLDERS.join('|')})/[\\w./-]+$`);
/** Named in the text and not in the repository: folders that are still to come, a pattern, a prefix in a bucket. */
const NO_FILES = ['sdk/', 'examples/shop/', 'NNNN_name.sql', 'crownwheel/'];

describe('paths in the documentation', () => {
  for (const document of ['ARCHITECTURE.md', 'README.md', 'dashboard/README.md']) {
    it(`exist if ${document} names them`, async () => {
      const { named, missing } = await pathsIn(document, await paths());
      assert.ok(named.length > 0);
      assert.deepEqual(missing, [], `correct the paths in ${document}`);
    });
  }

  it('exist if a decision names them', async () => {
    const existing = await paths();
    const decisions = existing.filter((path) => path.startsWith('decisions/') && path.endsWith('.md'));
    const all = await Promise.all(decisions.map((document) => pathsIn(document, existing)));
    const missing = all.flatMap((found, index) => found.missing.map((path) => `${decisions[index]} names ${path}`));
    assert.deepEqual(missing, []);
  });

  it('exist if a comment names them', async () => {
    const existing = await paths();
    const files = (await Promise.all(['src', 'dashboard/src', 'test', 'bench', 'attack'].map(sourceFiles))).flat();
    const missing = files.flatMap(({ path, text }) =>
      pathsInComments(text)
        .filter((named) => !existing.some((one) => `/${one}`.endsWith(`/${named}`)))
        .map((named) => `${path} names ${named}`),
    );
    assert.deepEqual(missing, []);
  });
});

/** The paths in backticks that a document names, and those of them that do not exist. */
async function pathsIn(document: string, existing: string[]): Promise<{ named: string[]; missing: string[] }> {
  const text = await readFile(join(ROOT, document), 'utf8');
  const named = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code ?? '').filter((code) => PATH.test(code));
  const missing = named.filter((path) => !NO_FILES.includes(path) && !existing.some(isNamedBy(path, document)));
  return { named, missing };
}

const COMMENT = /^\s*(?:\/?\*+|\/\/) .*$/gm;
/** A name such as `claim.ts`, with its folders or without. What has a placeholder before it is a pattern. */
const FILE = /(?<![\w<>/.'"-])(?:[\w-]+\/)*[a-z][\w-]*\.tsx?\b/g;

function pathsInComments(text: string): string[] {
  return (text.match(COMMENT) ?? []).flatMap((line) => line.match(FILE) ?? []);
}

/**
 * A path from the root, or from the folder of the document, names itself, also by its beginning, as in `decisions/0008`; a
 * shorter one names what ends in it.
 */
function isNamedBy(path: string, document: string): (existing: string) => boolean {
  const [folder = ''] = path.split('/');
  if (!FOLDERS.includes(folder) || path === `${folder}/`) return (existing) => `/${existing}`.endsWith(`/${path}`);
  const beside = join(dirname(document), path);
  return (existing) => existing.startsWith(path) || existing.startsWith(beside);
}

/** All files, and all folders with a slash at the end. */
async function paths(): Promise<string[]> {
  const all = await Promise.all(
    FOLDERS.map(async (folder) => {
      const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
      return entries.map(
        (entry) => join(entry.parentPath, entry.name).slice(ROOT.length) + (entry.isDirectory() ? '/' : ''),
      );
    }),
  );
  const top = await readdir(ROOT);
  return [...top, ...FOLDERS.map((folder) => `${folder}/`), ...all.flat()].filter(
    (path) => !path.includes('node_modules'),
  );
}
