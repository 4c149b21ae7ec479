import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWakeSignal } from './wake-signal.ts';

describe('a wake signal', () => {
  const LONG_MS = 60_000;

  it('ends the wait when it is woken', async () => {
    const signal = createWakeSignal();
    const waiting = signal.wait(LONG_MS);
    signal.wake();
    await waiting;
  });

  it('keeps one wake-up that comes while nobody waits, however many there were', async () => {
    const signal = createWakeSignal();
    signal.wake();
    signal.wake();
    await signal.wait(LONG_MS);
    let isOver = false;
    const next = signal.wait(LONG_MS).then(() => {
      isOver = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isOver, false);
    signal.wake();
    await next;
  });

  it('ends the wait when its time is up', async () => {
    await createWakeSignal().wait(1);
  });
});
