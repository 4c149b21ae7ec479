import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SemaphoreError } from './keyed-semaphore.ts';
import { createSemaphore } from './semaphore.ts';

it('a semaphore starts tasks up to its limit, lets the next ones wait in order, and refuses the rest', async () => {
  const semaphore = createSemaphore({ limit: 1, waitingLimit: 2 });
  const ended: number[] = [];
  let open = (): void => {};
  const first = semaphore.run(() => new Promise<void>((resolve) => (open = resolve)));
  const task = (name: number) => semaphore.run(() => Promise.resolve(ended.push(name)));
  const waiting = [task(1), task(2)];
  await assert.rejects(task(3), (error) => error instanceof SemaphoreError && error.reason === 'full');
  assert.deepEqual([semaphore.held(), semaphore.waiting()], [1, 2]);
  open();
  await Promise.all([first, ...waiting]);
  assert.deepEqual(ended, [1, 2]);
  assert.deepEqual([semaphore.held(), semaphore.waiting()], [0, 0]);
});
