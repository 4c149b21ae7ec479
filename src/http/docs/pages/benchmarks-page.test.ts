import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FiguresFile, readFigures } from '../benchmarks/figures-file.ts';
import { benchmarksPage } from './benchmarks-page.ts';

const FILE: FiguresFile = {
  runs: {
    one: {
      startedAt: '2026-02-03T04:05:06.000Z',
      seconds: 61,
      commit: '0123456789abcdef',
      isModified: true,
      loadBefore: 0.25,
      stolen: 0.034,
      machine: {
        cores: 2,
        processor: 'A <fast> one',
        memoryMb: 8192,
        system: 'Linux',
        node: '26.1.0',
        postgresql: '18.4',
      },
    },
  },
  figures: [
    {
      bench: 'writes',
      run: 'one',
      name: 'order',
      unit: '/s',
      ours: 900,
      bare: { name: 'pgbench', value: 1_000 },
      wanted: { of: 'ratio', atLeast: 1.2 },
      latency: { p50Ms: 12.3, p99Ms: 456.7 },
      cpuMicroseconds: { service: 512, postgresql: 789 },
      limitedBy: 'Waiting, not CPU.',
    },
    {
      bench: 'reads',
      run: 'one',
      name: 'last page',
      unit: 'ms',
      ours: 3,
      growth: {
        of: 'listings',
        points: [
          { size: 1_000, value: 2.5 },
          { size: 100_000, value: 3 },
        ],
      },
      wanted: { of: 'ratio', atMost: 1.3 },
    },
    { bench: 'restarts', run: 'one', name: 'requests', unit: 'failed', ours: 0, wanted: { of: 'value', atMost: 0 } },
  ],
  failures: [{ bench: 'writes', run: 'one', message: 'the service went away' }],
};

test('the page of benchmarks says every number of a plot as text, with its aim and whether it is met', () => {
  const text = textOf(FILE);
  for (const said of [
    /order Ratio 0\.90 Wanted ≥ 1\.2 missed Service 900\/s Bare 1,000\/s pgbench/,
    /order p50 12\.3 ms p99 457 ms/,
    /last page 1,000 2\.50 ms 100,000 3\.00 ms By listings: 1\.20 times \(≤ 1\.3 wanted, met \)/,
    /order Waiting, not CPU\. Service 512 µs PostgreSQL 789 µs/,
    /requests 0 failed ≤ 0 failed met/,
    /Aims 2 of 3 met/,
  ]) {
    assert.match(text, said);
  }
});

test('the page of benchmarks names machine, time and commit of each run, and what failed', () => {
  const text = textOf(FILE);
  assert.match(
    text,
    /Writes failed the service went away 2026-02-03 04:05 Took 61 s Load before 0\.25 Stolen 3\.4 % 012345678 and changes/,
  );
  assert.match(text, /2 cores \(A &lt;fast&gt; one\), 8 GB, Node 26\.1\.0, PostgreSQL 18\.4/);
});

test('the page of benchmarks says how to measure if there are no figures', () => {
  assert.match(textOf({ runs: {}, figures: [], failures: [] }), /Nothing is measured yet Run npm run bench/);
});

test('every figure of the file that is part of the release names a run', () => {
  const { runs, figures, failures } = readFigures();
  for (const { run } of [...figures, ...failures]) assert.ok(runs[run] !== undefined, run);
});

function textOf(file: FiguresFile): string {
  const { hero, body } = benchmarksPage(() => file).content();
  return `${hero.markup}${body.markup}`.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
}
