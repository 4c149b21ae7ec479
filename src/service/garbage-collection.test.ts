import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

/** Makes buffers that nobody needs for long, as bodies are, beside a heap that is in use. Prints how many full collections that takes. */
const PROGRAM = `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
  import { collectBuffersLessOften } from '${new URL('./garbage-collection.ts', import.meta.url)}';
  if (process.env.LESS_OFTEN === 'yes') collectBuffersLessOften();
  let collections = 0;
  new PerformanceObserver((list) => {
    const full = list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
    collections += full.length;
  }).observe({ entryTypes: ['gc'] });
  const inUse = Array.from({ length: 400_000 }, (_, index) => ({ index, text: 'item ' + index }));
  for (let body = 0; body < 400; body++) {
    const chunks = [];
    for (let chunk = 0; chunk < 16; chunk++) {
      chunks.push(Buffer.alloc(65_536, '1'));
      await nextRound();
    }
    Buffer.concat(chunks).toString();
  }
  await sleep(100);
  process.stdout.write(String(inUse.length > 0 ? collections : 0));
`;

/** When a collection begins would otherwise also depend on how fast the machine is. */
const PREDICTABLE = ['--single-threaded-gc', '--no-incremental-marking', '--no-memory-reducer'];

async function collectionsOf(lessOften: 'yes' | 'no'): Promise<number> {
  const args = [...PREDICTABLE, '--input-type=module', '--eval', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, LESS_OFTEN: lessOften },
  });
  return Number(stdout);
}

describe('garbage collection', () => {
  it('is not started by every 64 MB of buffers', async () => {
    const [before, now] = [await collectionsOf('no'), await collectionsOf('yes')];
    assert.ok(before >= 5, `${before} full collections: too few buffers to show a difference`);
    assert.ok(now < before / 2, `${now} full collections, ${before} without the setting`);
  });
});
