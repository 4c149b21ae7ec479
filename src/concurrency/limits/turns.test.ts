import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTurns } from './turns.ts';

describe('turns', () => {
  const AN_HOUR_MS = 3_600_000;
  const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

  it('are given to so many at once, and then in the order of arrival', async () => {
    const turns = createTurns({ limit: 2, waitLimitMs: AN_HOUR_MS });
    const begun: string[] = [];
    const take = async (name: string) => {
      const end = await turns.take('a key');
      begun.push(name);
      return end;
    };
    const [a, b, c, d] = [take('a'), take('b'), take('c'), take('d')];
    await tick();
    assert.deepEqual(begun, ['a', 'b']);
    (await b)();
    await tick();
    assert.deepEqual(begun, ['a', 'b', 'c']);
    for (const turn of [a, c]) (await turn)();
    (await d)();
    assert.deepEqual(begun, ['a', 'b', 'c', 'd']);
  });

  it('go round the groups of those who wait, and within each round its keys', async () => {
    const turns = createTurns({ limit: 1, waitLimitMs: AN_HOUR_MS });
    const end = await turns.take('first');
    const begun: string[] = [];
    const names = ['a1', 'a1', 'a1', 'a2', 'b1'];
    const all = names.map(async (key) => {
      const endOwn = await turns.take({ group: key.slice(0, 1), key });
      begun.push(key);
      endOwn();
    });
    end();
    await Promise.all(all);
    assert.deepEqual(begun, ['a1', 'b1', 'a2', 'a1', 'a1']);
  });

  it('are not needed by one that has waited long enough', async () => {
    const turns = createTurns({ limit: 1, waitLimitMs: 5 });
    const endHanging = await turns.take('a key');
    const endWithout = await turns.take('a key');
    // It had no turn to give back: the one that hangs still has the only one.
    endWithout();
    let hasBegun = false;
    const next = turns.take('a key').then((end) => {
      hasBegun = true;
      return end;
    });
    await tick();
    assert.equal(hasBegun, false);
    endHanging();
    (await next)();
  });
});
