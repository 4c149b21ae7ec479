import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDatabaseTime } from './database-time.ts';

describe("the database's time", () => {
  const SERVER = 1_900_000_000_000;

  it("the database's time is not moved by an answer that was long on its way", () => {
    const clock = createDatabaseTime(() => 10_000);
    clock.observe({ askedAt: 0, arrivedAt: 2, databaseMs: SERVER + 1 });
    clock.observe({ askedAt: 5_000, arrivedAt: 9_000, databaseMs: SERVER + 5_001 });
    assert.equal(clock.now().getTime(), SERVER + 10_000);
    assert.equal(clock.latest().getTime(), SERVER + 10_001);
  });

  it("the database's time is never before the real one where a wait begins, even if every answer is slow", () => {
    const clock = createDatabaseTime(() => 10_000);
    for (const askedAt of [0, 4_000])
      clock.observe({ askedAt, arrivedAt: askedAt + 3_000, databaseMs: SERVER + askedAt });
    assert.ok(clock.latest().getTime() >= SERVER + 10_000);
    assert.ok(clock.now().getTime() >= SERVER + 10_000 - 1_500);
  });

  it("the database's time follows when the clock is set", () => {
    const clock = createDatabaseTime(() => 10_000);
    clock.observe({ askedAt: 0, arrivedAt: 2, databaseMs: SERVER });
    for (const hour of [3_600_000, -3_600_000]) {
      clock.observe({ askedAt: 9_000, arrivedAt: 9_002, databaseMs: SERVER + hour + 9_001 });
      assert.equal(clock.now().getTime(), SERVER + hour + 10_000);
    }
  });
});
