import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GROWTH_LIMIT_BYTES, harmOf, isDisturbed, PAUSE_LIMIT_MS } from '../../attack/harm.ts';
import { middleOf } from '../../attack/middle.ts';
import type { Served } from '../../attack/neighbour.ts';
import type { AttackResult } from '../../attack/run.ts';

const served = (p99Ms: number, failures = 0): Served => ({ requests: 500, failures, p50Ms: 2, p99Ms });

const PEACE: AttackResult = {
  name: 'an attack',
  rounds: 1,
  statuses: new Map([[200, 10]]),
  elapsedMs: 1_000,
  answerBytes: 100,
  quiet: served(20),
  attacked: served(20),
  bare: null,
  pauseMs: 10,
  busyMs: 5,
  grownBytes: 0,
  cpuMs: 100,
  stolen: 0,
};

describe('the harm of an attack', () => {
  it('is a p99 that neither peace nor the attacker’s load explains, a failure, a pause, or memory', () => {
    assert.deepEqual(harmOf(PEACE), []);
    assert.deepEqual(harmOf({ ...PEACE, attacked: served(41) }), ['p99']);
    assert.deepEqual(harmOf({ ...PEACE, attacked: served(41), bare: served(15) }), ['p99']);
    assert.deepEqual(harmOf({ ...PEACE, attacked: served(41), bare: served(21) }), ['p99 by load']);
    assert.deepEqual(harmOf({ ...PEACE, quiet: served(5), attacked: served(24) }), []);
    const worst = { attacked: served(20, 1), pauseMs: PAUSE_LIMIT_MS + 1, grownBytes: GROWTH_LIMIT_BYTES + 1 };
    assert.deepEqual(harmOf({ ...PEACE, ...worst }), ['failures', 'pause', 'memory']);
  });

  it('is unknown while the host takes the processors away, unless something failed or memory grew', () => {
    const slow = { ...PEACE, attacked: served(41), pauseMs: PAUSE_LIMIT_MS + 1 };
    assert.equal(isDisturbed(slow), false);
    assert.equal(isDisturbed({ ...slow, stolen: 0.1 }), true);
    assert.equal(isDisturbed({ ...PEACE, stolen: 0.1 }), true);
    assert.equal(isDisturbed({ ...slow, attacked: served(41, 1), stolen: 0.1 }), false);
    assert.equal(isDisturbed({ ...slow, grownBytes: GROWTH_LIMIT_BYTES + 1, stolen: 0.1 }), false);
  });

  it('is that of the middle one of three by its p99, and of the worst by all else', () => {
    const middle = middleOf([
      { ...PEACE, attacked: served(90), pauseMs: 12 },
      { ...PEACE, attacked: served(30, 1), pauseMs: 150 },
      { ...PEACE, attacked: served(35), stolen: 0.2 },
    ]);
    assert.deepEqual(middle.attacked, served(35, 1));
    assert.deepEqual([middle.pauseMs, middle.stolen], [150, 0.2]);
    assert.deepEqual(harmOf(middle), ['failures', 'pause']);
  });
});
