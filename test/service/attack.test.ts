import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { ATTACKS } from '../../attack/attacks/all-attacks.ts';
import { type AttackResult, attackOwnService } from '../../attack/run.ts';

/**
 * A short run of `npm run attack`. What is asserted does not depend on how busy the machine is: the CPU time and the
 * memory that each attack costs the service.
 */
const SCALE = 0.05;
const CPU_LIMIT_MS = 4_000;
/** Of the event loop's thread, in one go. */
const BUSY_LIMIT_MS = 500;
const GROWTH_LIMIT_BYTES = 256 * 1024 * 1024;

describe('a short attack', () => {
  let results: AttackResult[];
  before(async () => {
    results = await attackOwnService({
      attacks: ATTACKS,
      seed: 1,
      scale: SCALE,
      samples: 4,
      roundsLimit: 1,
      attackMs: 1_500,
      restMs: 20,
      hasComparison: false,
      repeatsLimit: 0,
      hasSamePriority: false,
      onDisturbed: () => {},
      onResult: () => {},
    });
  });

  it('leaves the service alive', () => {
    assert.deepEqual(
      results.map(({ name }) => name),
      ATTACKS.map(({ name }) => name),
    );
  });

  for (const { name } of ATTACKS) {
    it(`by ${name} costs the service little CPU time and memory`, () => {
      const result = results.find((one) => one.name === name);
      const { cpuMs, busyMs, grownBytes } = result ?? {};
      assert.ok(typeof cpuMs === 'number' && typeof busyMs === 'number' && typeof grownBytes === 'number');
      assert.ok(cpuMs < CPU_LIMIT_MS, `${Math.round(cpuMs)} ms of CPU time`);
      assert.ok(busyMs < BUSY_LIMIT_MS, `${Math.round(busyMs)} ms of CPU time in one go`);
      assert.ok(grownBytes < GROWTH_LIMIT_BYTES, `${Math.round(grownBytes / 1_048_576)} MiB more`);
    });
  }
});
