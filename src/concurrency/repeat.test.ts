import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { repeat, startRepeating, startTasks } from './repeat.ts';

const LONG_MS = 60_000;
const onFault = (fault: unknown): never => {
  throw fault;
};

describe('repeat', () => {
  it('does the work again until its signal is aborted', async () => {
    const stopping = new AbortController();
    let times = 0;
    const work = async () => {
      times += 1;
      if (times === 3) stopping.abort();
    };
    await repeat({ signal: stopping.signal, onFault }, work, 1);
    assert.equal(times, 3);
  });

  it('reports a fault and goes on', async () => {
    const stopping = new AbortController();
    const faults: unknown[] = [];
    const broken = new Error('broken');
    let times = 0;
    const work = async () => {
      times += 1;
      if (times === 1) throw broken;
      stopping.abort();
    };
    await repeat({ signal: stopping.signal, onFault: (fault) => faults.push(fault) }, work, 1);
    assert.deepEqual([times, faults], [2, [broken]]);
  });
});

describe('a repeated task', () => {
  it('begins after its first pause', async () => {
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const task = startRepeating(async () => begin(), { everyMs: LONG_MS, firstAfterMs: 1, onFault });
    await begun;
    await task.stop();
  });

  it('that is stopped in its first pause does nothing', async () => {
    const task = startRepeating(() => assert.fail('it began'), { everyMs: LONG_MS, onFault });
    await task.stop();
  });

  it('ends when it is stopped, and stop waits for it', async () => {
    let isEnded = false;
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const work = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        begin();
        signal.addEventListener('abort', () =>
          setImmediate(() => {
            isEnded = true;
            resolve();
          }),
        );
      });
    const task = startRepeating(work, { everyMs: 1, onFault });
    await begun;
    await task.stop();
    assert.equal(isEnded, true);
  });
});

describe('tasks that are started together', () => {
  it('run side by side, and a stop waits for all of them', async () => {
    const begun: string[] = [];
    const ended: string[] = [];
    const task = (name: string) => ({
      work: async (signal: AbortSignal) => {
        begun.push(name);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        ended.push(name);
      },
      everyMs: LONG_MS,
    });
    const tasks = startTasks([task('one'), task('two')], onFault);
    assert.deepEqual(begun, ['one', 'two'], 'the first time comes at once');
    await tasks.stop();
    assert.deepEqual(ended, ['one', 'two']);
  });
});
