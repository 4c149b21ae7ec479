import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { limitOfRate, type Measured, mergeFigures } from '../../bench/figures.ts';
import { runAll } from '../../bench/run-all.ts';
import { type Figure, type FiguresFile, isMet, ratioOf } from '../../src/http/docs/benchmarks/figures-file.ts';

const EMPTY: FiguresFile = { runs: {}, figures: [], failures: [] };

describe('the file of figures', () => {
  it('keeps the figures of other benches and of other names when only a part is measured again', () => {
    const file = [
      measured('reads', '2026-01-01T10:00:00.000Z', ['by id', 'page']),
      measured('writes', '2026-01-01T11:00:00.000Z', ['orders']),
      { ...measured('reads', '2026-01-01T12:00:00.000Z', ['page']), isWhole: false },
    ].reduce(mergeFigures, EMPTY);
    assert.deepEqual(
      file.figures.map(({ bench, name, run }) => `${bench} ${name} ${file.runs[run]?.startedAt.slice(11, 13)}`),
      ['reads by id 10', 'writes orders 11', 'reads page 12'],
    );
  });

  it('drops what a whole run of the bench does not measure any more, and runs that nothing names', () => {
    const file = [
      measured('reads', '2026-01-01T10:00:00.000Z', ['by id', 'page']),
      measured('reads', '2026-01-01T12:00:00.000Z', ['page']),
    ].reduce(mergeFigures, EMPTY);
    assert.deepEqual(
      file.figures.map(({ name }) => name),
      ['page'],
    );
    assert.deepEqual(Object.keys(file.runs), ['2026-01-01T12:00:00.000Z reads']);
  });

  it('names a failure, keeps the figures before it, and forgets it when the bench succeeds', () => {
    const failed = [
      measured('reads', '2026-01-01T10:00:00.000Z', ['by id', 'page']),
      { ...measured('reads', '2026-01-01T12:00:00.000Z', ['page']), failure: 'the service went away' },
    ].reduce(mergeFigures, EMPTY);
    assert.deepEqual(failed.failures, [
      { bench: 'reads', run: '2026-01-01T12:00:00.000Z reads', message: 'the service went away' },
    ]);
    assert.equal(failed.figures.length, 2);
    const mended = mergeFigures(failed, measured('reads', '2026-01-01T13:00:00.000Z', ['by id']));
    assert.deepEqual(mended.failures, []);
    assert.equal(mended.figures.length, 1);
  });

  it('refuses two figures of the same name, of which one would be lost', () => {
    assert.throws(
      () => mergeFigures(EMPTY, measured('reads', '2026-01-01T10:00:00.000Z', ['page', 'page'])),
      /same name/,
    );
  });
});

describe('a figure', () => {
  const rate: Figure = { name: 'orders', unit: '/s', ours: 900, bare: { name: 'pgbench', value: 1_000 } };

  it('meets its aim by its ratio or by its value, and no aim is neither met nor missed', () => {
    assert.equal(ratioOf(rate), 0.9);
    assert.equal(isMet(rate), null);
    assert.equal(isMet({ ...rate, wanted: { of: 'ratio', atLeast: 0.9 } }), true);
    assert.equal(isMet({ ...rate, wanted: { of: 'ratio', atLeast: 1.2 } }), false);
    assert.equal(isMet({ name: 'failed', unit: 'failed', ours: 1, wanted: { of: 'value', atMost: 0 } }), false);
    assert.equal(isMet({ name: 'no pgbench here', unit: '/s', ours: 1, wanted: { of: 'ratio', atLeast: 1 } }), null);
  });

  it('compares the largest size of a growth with the smallest', () => {
    const points = [
      { size: 1_000, value: 2 },
      { size: 100_000, value: 3 },
    ];
    assert.equal(ratioOf({ name: 'first page', unit: 'ms', ours: 3, growth: { of: 'rows', points } }), 1.5);
  });

  it('says what limits a rate: a core, all cores, or neither', () => {
    assert.match(limitOfRate(10_000, { service: 95 }, 2), /^One core: the service uses 0\.95 /);
    assert.match(limitOfRate(1_000, { service: 700, postgresql: 800 }, 2), /^All cores: /);
    assert.match(limitOfRate(1_000, { service: 300, postgresql: 400 }, 2), /^Not their CPU time: /);
  });
});

describe('a run of all benches', () => {
  it('goes on after one that fails and one that hangs, names both, and exits with 1', async (t) => {
    const dir = await mkdtemp(join(tmpdir(), 'crownwheel-bench-test-'));
    t.after(() => rm(dir, { recursive: true, force: true }));
    const script = join(dir, 'bench.mjs');
    await writeFile(
      script,
      `({ good() {}, bad() { process.exit(3); }, stuck() { setInterval(() => {}, 1000); } })[process.argv[2]]();`,
    );
    const failed: string[] = [];
    const options = {
      script,
      limitMs: 2_000,
      onFailed: (bench: string, _: Date, end: string) => failed.push(`${bench} ${end}`),
    };
    t.mock.method(console, 'log', () => {});
    assert.equal(await runAll([['bad'], ['stuck'], ['good']], options), 1);
    assert.deepEqual(failed, ['bad failed (3)', 'stuck stopped after 2 s']);
    assert.equal(await runAll([['good']], options), 0);
  });
});

function measured(bench: string, startedAt: string, names: string[]): Measured {
  return {
    bench,
    run: {
      startedAt,
      seconds: 1,
      commit: 'abc',
      isModified: false,
      loadBefore: 0,
      machine: { cores: 2, processor: 'x', memoryMb: 1, system: 'Linux', node: '26', postgresql: '18' },
    },
    figures: names.map((name) => ({ name, unit: 'ms', ours: 1 })),
    isWhole: true,
    failure: null,
  };
}
