import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LAYERS, NEIGHBOURS, NEIGHBOURS_USED } from './layers.ts';
import { foldersOf, importsOf, sourceFiles } from './source-files.ts';

const layerOf = new Map(LAYERS.flatMap((row, index) => row.map((folder) => [folder, index] as const)));

describe('imports', () => {
  it('know every folder of src/', async () => {
    const unlisted = (await foldersOf('src')).filter((folder) => !layerOf.has(folder));
    assert.deepEqual(unlisted, [], 'give the folder its row in test/architecture/layers.ts');
  });

  it('run one way: a folder imports only folders of the rows above its own', async () => {
    const wrong: string[] = [];
    for (const file of await sourceFiles('src')) {
      const folder = file.path.split('/')[1] ?? '';
      for (const target of importsOf(file).filter(isPath)) {
        if (!isAllowed(folder, target)) wrong.push(`${file.path} imports ${target}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('of dashboard, SDK and examples stay within what they may share with the service', async () => {
    const wrong: string[] = [];
    for (const [folder, allowed] of Object.entries(NEIGHBOURS)) {
      for (const file of await sourceFiles(folder)) {
        const bad = importsOf(file)
          .filter(isPath)
          .filter((target) => !allowed.some((root) => target.startsWith(`${root}/`)));
        wrong.push(...bad.map((target) => `${file.path} imports ${target}`));
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('of the contract need no server: browsers share its enumerations and labels', async () => {
    const wrong: string[] = [];
    for (const file of await sourceFiles('src/contract')) {
      const bad = importsOf(file).filter((target) => !isPath(target) && !/^typebox(\/|$)/.test(target));
      wrong.push(...bad.map((target) => `${file.path} imports ${target}`));
      if (/\b(Buffer|process)\.[a-z]/.test(file.text)) wrong.push(`${file.path} uses a global of Node`);
    }
    assert.deepEqual(wrong, []);
  });
});

/** A file of the repository; anything else is a package. */
function isPath(target: string): boolean {
  return /^[a-z.].*\/.*\.(tsx?|json|css|svg)$/.test(target);
}

function isAllowed(folder: string, target: string): boolean {
  const [root, imported = ''] = target.split('/');
  if (root !== 'src') return (NEIGHBOURS_USED[folder] ?? []).some((path) => target.startsWith(path));
  const from = layerOf.get(folder) ?? -1;
  const to = layerOf.get(imported) ?? Number.POSITIVE_INFINITY;
  return imported === folder || to < from;
}
