import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { migrations, type SourceFile, sourceFiles } from './source-files.ts';
import { EXCEPTIONS, OWNERS } from './table-owners.ts';

const ownerOf = new Map(Object.entries(OWNERS).flatMap(([folder, tables]) => tables.map((name) => [name, folder])));

type Use = { file: string; table: string; isWrite: boolean };

describe('tables', () => {
  it('have an owner each', async () => {
    const text = (await migrations()).join('\n');
    const made = [...text.matchAll(/^create (?:unlogged )?(?:table|view)(?: if not exists)? (\w+)/gm)];
    const dropped = new Set([...text.matchAll(/^drop (?:table|view)(?: if exists)? (\w+)/gm)].map(([, name]) => name));
    const tables = new Set(made.map(([, name]) => name ?? '').filter((name) => !dropped.has(name)));
    const unowned = [...tables].filter((name) => !ownerOf.has(name));
    assert.deepEqual(unowned, [], 'name its folder in test/architecture/table-owners.ts');
  });

  it('are named only in the SQL of their owner, or where an exception says why', async () => {
    const wrong = (await foreignUses()).filter((use) => !isExcepted(use));
    assert.deepEqual(
      wrong.map(
        ({ file, table, isWrite }) => `${file} ${isWrite ? 'writes' : 'reads'} ${table} of ${ownerOf.get(table)}`,
      ),
      [],
      'ask the owning folder for it, or give the reason in test/architecture/table-owners.ts',
    );
  });

  it('have no exception that nobody needs any more', async () => {
    const uses = await foreignUses();
    const isUsed = (file: string, table: string, isWrite: boolean) =>
      uses.some((use) => use.file === file && use.table === table && (use.isWrite || !isWrite));
    const idle = EXCEPTIONS.flatMap(({ file, reads = [], writes = [] }) => [
      ...reads.filter((table) => !isUsed(file, table, false)).map((table) => `${file} reads ${table}`),
      ...writes.filter((table) => !isUsed(file, table, true)).map((table) => `${file} writes ${table}`),
    ]);
    assert.deepEqual(idle, []);
  });
});

async function foreignUses(): Promise<Use[]> {
  return (await sourceFiles('src'))
    .flatMap(usesOf)
    .filter(({ file, table }) => ownerOf.get(table) !== file.split('/')[0]);
}

/** Keywords of SQL stand before the name of a table; TypeScript has none of these before a name with an underscore. */
function usesOf({ path, text }: SourceFile): Use[] {
  const file = path.slice('src/'.length);
  const code = text.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '').replaceAll(/^import .*$/gm, '');
  const matches = code.matchAll(/\b(delete\s+from|from|join|into|update|table|using)\s+(?:only\s+)?([a-z_]+)\b/g);
  return [...matches]
    .filter(([, , table = '']) => ownerOf.has(table))
    .map(([, keyword = '', table = '']) => ({ file, table, isWrite: /^(delete|into|update)/.test(keyword) }));
}

function isExcepted({ file, table, isWrite }: Use): boolean {
  return EXCEPTIONS.some(
    (exception) =>
      exception.file === file && (exception.writes?.includes(table) || (!isWrite && exception.reads?.includes(table))),
  );
}
