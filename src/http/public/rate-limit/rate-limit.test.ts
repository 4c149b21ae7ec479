import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { TESTER } from '../../../../test/harness/actor.ts';
import { cloneDatabase, type TestDatabase } from '../../../../test/harness/database/database.ts';
import { integrationMaker } from '../../../../test/harness/database/integration-maker.ts';
import { type Dealer, startWorld, type World } from '../../../../test/harness/world.ts';
import { RATE_WINDOW_MS } from '../../../contract/limits.ts';
import { sql } from '../../../db/sql.ts';
import { setEnabled, setRateLimit } from '../../../dealers/integrations/integrations.ts';
import { memoryStore } from './memory-store.ts';
import { postgresStore } from './postgres-store.ts';
import { retryAfterSeconds } from './rate-limit-answer.ts';
import type { RateLimitStore, Spending } from './rate-limit-store.ts';

/** Up to this cap both stores are exact; above it the PostgreSQL store may count a spend for a little too long. */
const EXACT_CAP = 1000;
const COARSE_MS = 60;
const COSTS = [1, 2, 10];

/** A moment in the life of an integration: some time passes, the cap may be another one, requests arrive together. */
type Moment = { passMs: number; cap: number; costs: number[]; obeysRetryAfter: boolean };

const passMs = fc.oneof(
  fc.integer({ min: 0, max: 50 }),
  fc.integer({ min: 0, max: 5_000 }),
  fc.integer({ min: 0, max: 2 * RATE_WINDOW_MS }),
  fc.constantFrom(0, 1, 999, 1_000, RATE_WINDOW_MS - 1, RATE_WINDOW_MS, RATE_WINDOW_MS + 1),
);
const cost = fc.constantFrom(...COSTS);

function moments(caps: fc.Arbitrary<number>, mostCosts: number): fc.Arbitrary<Moment[]> {
  const costs = fc.array(cost, { minLength: 1, maxLength: mostCosts, size: 'max' });
  const moment = fc.record({ passMs, cap: caps, costs, obeysRetryAfter: fc.boolean() });
  return fc.array(moment, { minLength: 1, maxLength: 40, size: 'max' });
}

const smallCaps = fc.integer({ min: 10, max: 40 });
const exactCaps = fc.oneof({ weight: 4, arbitrary: smallCaps }, { weight: 1, arbitrary: fc.constantFrom(600, 1000) });
const anyCaps = fc.oneof(exactCaps, fc.constantFrom(1001, 1003, 1500));

/** The exact log that a store is held against. */
class Log {
  #entries: { atMs: number; cost: number }[] = [];

  used(nowMs: number, windowMs: number = RATE_WINDOW_MS): number {
    return this.#counted(nowMs, windowMs).reduce((sum, entry) => sum + entry.cost, 0);
  }

  /** How long until `room` more tokens fit under the cap, if nothing else is spent. */
  waitFor(room: number, cap: number, nowMs: number, windowMs: number = RATE_WINDOW_MS): number {
    let used = this.used(nowMs, windowMs);
    for (const entry of this.#counted(nowMs, windowMs)) {
      if (used + room <= cap) return 0;
      used -= entry.cost;
      if (used + room <= cap) return entry.atMs + windowMs - nowMs;
    }
    return 0;
  }

  resetIn(nowMs: number): number {
    const last = this.#entries.at(-1);
    return last === undefined ? 0 : Math.max(0, last.atMs + RATE_WINDOW_MS - nowMs);
  }

  spend(atMs: number, cost: number): void {
    this.#entries.push({ atMs, cost });
  }

  #counted(nowMs: number, windowMs: number) {
    return this.#entries.filter((entry) => entry.atMs + windowMs > nowMs);
  }
}

function assertBetween(value: number, least: number, most: number, what: string): void {
  assert.ok(value >= least && value <= most, `${what} is ${value}, not from ${least} to ${most}`);
}

/** Lives through the moments and holds every answer against the log. */
async function assertKeepsToTheLog(
  store: RateLimitStore,
  integrationId: string,
  clock: { ms: number },
  moments: Moment[],
): Promise<void> {
  const log = new Log();
  // Once a cap was coarse, entries of that time stay so.
  let slackMs = 0;

  function assertAnswer(answer: Spending, cap: number, cost: number): void {
    const { ms } = clock;
    if (answer.isAllowed) {
      assert.ok(log.used(ms) + cost <= cap, 'never more than the cap in any 60 seconds');
      log.spend(ms, cost);
    } else {
      assert.ok(log.used(ms, RATE_WINDOW_MS + slackMs) + cost > cap, 'what fits is admitted');
      const neededMs = log.waitFor(cost, cap, ms);
      assertBetween(answer.waitMs, neededMs, log.waitFor(cost, cap, ms, RATE_WINDOW_MS + slackMs), 'the wait');
      assert.ok(retryAfterSeconds(answer) * 1000 < Math.max(1, neededMs + slackMs) + 1000, 'Retry-After is not lazy');
    }
    const least = Math.max(0, cap - log.used(ms, RATE_WINDOW_MS + slackMs));
    assertBetween(answer.remaining, least, Math.max(0, cap - log.used(ms)), 'remaining');
    assertBetween(answer.resetInMs, log.resetIn(ms), log.resetIn(ms) + slackMs, 'the time to the reset');
  }

  for (const { passMs, cap, costs, obeysRetryAfter } of moments) {
    clock.ms += passMs;
    if (cap > EXACT_CAP) slackMs = COARSE_MS;
    const answers = await Promise.all(costs.map((cost) => store.spend(integrationId, cap, cost)));
    for (const [index, answer] of answers.entries()) assertAnswer(answer, cap, costs[index] ?? 0);

    const refused = answers.findIndex((answer) => !answer.isAllowed);
    const refusal = answers[refused];
    if (refusal === undefined || !obeysRetryAfter) continue;
    clock.ms += retryAfterSeconds(refusal) * 1000;
    const cost = costs[refused] ?? 0;
    // Others of the same burst may have been admitted after this refusal, and may now stand in its way.
    if (log.waitFor(cost, cap, clock.ms) > 0) continue;
    const again = await store.spend(integrationId, cap, cost);
    if (!answers.slice(refused).some((answer) => answer.isAllowed)) {
      assert.ok(again.isAllowed, 'after Retry-After, alone, the request passes');
    }
    assertAnswer(again, cap, cost);
  }
}

const property = { numRuns: 50, seed: Date.now() & 0x7fffffff };

describe('the rolling window', () => {
  let database: TestDatabase;
  let newIntegration: () => Promise<string>;
  before(async () => {
    database = await cloneDatabase();
    newIntegration = await integrationMaker(database.db);
  });
  after(() => database.drop());

  const stores: Record<string, (clock: { ms: number }) => RateLimitStore> = {
    memory: (clock) => memoryStore(() => clock.ms),
    postgres: (clock) => postgresStore(database.db, () => clock.ms),
  };

  for (const [name, open] of Object.entries(stores)) {
    for (const [kind, history] of Object.entries({
      'of small and default caps': moments(exactCaps, 20),
      'of any cap': moments(anyCaps, 100),
    })) {
      it(`is kept by the ${name} store under random arrivals, costs and changes ${kind}`, async (t) => {
        t.diagnostic(`seed ${property.seed}`);
        await fc.assert(
          fc.asyncProperty(fc.integer({ min: 0, max: 2_000_000_000_000 }), history, async (startMs, moments) => {
            const clock = { ms: startMs };
            await assertKeepsToTheLog(open(clock), await newIntegration(), clock, moments);
          }),
          property,
        );
      });
    }

    it(`lets the ${name} store apply a changed cap from the next request`, async () => {
      const store = open({ ms: 1_000_000 });
      const id = await newIntegration();
      for (let spent = 1; spent <= 10; spent++) assert.equal((await store.spend(id, 10, 1)).remaining, 10 - spent);
      assert.equal((await store.spend(id, 10, 1)).isAllowed, false);
      assert.deepEqual(await store.spend(id, 12, 1), {
        isAllowed: true,
        remaining: 1,
        resetInMs: RATE_WINDOW_MS,
        waitMs: 0,
      });
      assert.equal((await store.spend(id, 10, 1)).isAllowed, false);
    });

    it(`keeps integrations apart in the ${name} store`, async () => {
      const store = open({ ms: 1_000_000 });
      const [one, other] = [await newIntegration(), await newIntegration()];
      await Promise.all(Array.from({ length: 12 }, () => store.spend(one, 10, 1)));
      assert.equal((await store.spend(other, 10, 1)).remaining, 9);
    });
  }

  it('never holds a client longer than the window when the database’s clock was set back', async () => {
    const clock = { ms: 10_000_000_000 };
    const store = postgresStore(database.db, () => clock.ms);
    const id = await newIntegration();
    await store.spend(id, 10, 10);
    clock.ms -= 3_600_000;
    const refused = await store.spend(id, 10, 1);
    assert.equal(refused.isAllowed, false);
    assertBetween(refused.waitMs, 1, RATE_WINDOW_MS, 'the wait');
    clock.ms += RATE_WINDOW_MS;
    assert.equal((await store.spend(id, 10, 1)).isAllowed, true);
  });

  it('keeps a short log in the database, whatever the cap', async () => {
    const clock = { ms: 5_000_000_000 };
    const store = postgresStore(database.db, () => clock.ms);
    const id = await newIntegration();
    for (let step = 0; step < 1_500; step++) {
      clock.ms += 39;
      await store.spend(id, 5_000, 1);
    }
    const [row] = await database.db.query<{ entries: number }>(
      sql`select cardinality(spent_at) as entries from rate_windows where integration_id = ${id}`,
    );
    assertBetween(row?.entries ?? 0, 900, 1_001, 'the number of entries');
  });
});

describe('the rate limit on the wire', () => {
  const clock = { ms: 0 };
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld({ rateLimits: memoryStore(() => clock.ms) });
  });
  after(() => world.stop());

  const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

  async function assertRemaining(remaining: number, path: string, method: string, status: number) {
    const response = await dealer.api.send(path, { method });
    assert.equal(response.status, status, `${method} ${path}`);
    assert.equal(response.headers['x-ratelimit-limit'], '600');
    assert.equal(response.headers['x-ratelimit-remaining'], String(remaining));
    const secondsToReset =
      Number(response.headers['x-ratelimit-reset']) - Date.parse(response.headers.date ?? '') / 1000;
    assertBetween(secondsToReset, 60, 62, 'the seconds from Date to X-RateLimit-Reset');
    return response;
  }

  it('counts every authenticated request, whatever its answer, and says so in the headers', async () => {
    dealer = await world.dealer();
    await assertRemaining(599, '/v1/me', 'GET', 200);
    await assertRemaining(598, '/v1/me', 'HEAD', 200);
    await assertRemaining(597, '/v1/nothing', 'GET', 404);
    await assertRemaining(596, '/v1/me', 'POST', 405);
    await assertRemaining(595, '/v1/health', 'DELETE', 405);
    await setEnabled(world.db, TESTER, dealer.integrationId, false);
    await assertRemaining(594, '/v1/me', 'GET', 403);
    await setEnabled(world.db, TESTER, dealer.integrationId, true);
    await assertRemaining(593, '/v1/me?anything=else', 'GET', 200);
  });

  it('neither counts nor marks the requests that it does not know the sender of', async () => {
    dealer = await world.dealer();
    for (const authorization of ['', 'Bearer', `Bearer ${'x'.repeat(36)}`, `Bearer svc_${'x'.repeat(32)}`]) {
      const refused = await world.client(null).get('/v1/me', { authorization });
      assert.equal(refused.status, 401);
      for (const name of names) assert.equal(refused.headers[name], undefined);
    }
    await assertRemaining(599, '/v1/me', 'GET', 200);
  });

  it('refuses the 601st request, and a refusal consumes nothing', async () => {
    dealer = await world.dealer();
    for (let sent = 0; sent < 600; sent += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => dealer.api.get('/v1/me')));
      assert.ok(answers.every((answer) => answer.status === 200));
      clock.ms += 1_000;
    }
    for (let attempt = 0; attempt < 3; attempt++) {
      const refused = await dealer.api.get('/v1/me');
      assert.equal(refused.status, 429);
      assert.equal(refused.body.error.code, 'too_many_requests');
      assert.equal(refused.body.error.type, 'rate_limit_error');
      assert.equal('param' in refused.body.error, false);
      assert.equal(refused.headers['retry-after'], '48');
      assert.equal(refused.headers['x-ratelimit-limit'], '600');
      assert.equal(refused.headers['x-ratelimit-remaining'], '0');
    }
    // An unknown path and a switched-off integration are refused first for their number.
    assert.equal((await dealer.api.get('/v1/nothing')).status, 429);
    await setEnabled(world.db, TESTER, dealer.integrationId, false);
    assert.equal((await dealer.api.get('/v1/me')).status, 429);
    await setEnabled(world.db, TESTER, dealer.integrationId, true);

    clock.ms += 47_999;
    assert.equal((await dealer.api.get('/v1/me')).headers['retry-after'], '1');
    clock.ms += 1;
    const passed = await dealer.api.get('/v1/me');
    assert.equal(passed.status, 200);
    assert.equal(passed.headers['x-ratelimit-remaining'], '49');
  });

  it('follows an override from the next request on', async () => {
    dealer = await world.dealer();
    await setRateLimit(world.db, TESTER, dealer.integrationId, 10);
    for (let spent = 1; spent <= 10; spent++) {
      const { headers } = await dealer.api.get('/v1/me');
      assert.deepEqual([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']], ['10', String(10 - spent)]);
    }
    assert.equal((await dealer.api.get('/v1/me')).status, 429);
    await setRateLimit(world.db, TESTER, dealer.integrationId, 1_000);
    const raised = await dealer.api.get('/v1/me');
    assert.deepEqual([raised.status, raised.headers['x-ratelimit-remaining']], [200, '989']);
    assert.deepEqual(raised.body.rate_limit, { limit: 1_000 });
    await setRateLimit(world.db, TESTER, dealer.integrationId, null);
    assert.equal((await dealer.api.get('/v1/me')).headers['x-ratelimit-remaining'], '588');
  });

  it('never limits the open endpoints, which need no key and ignore one', async () => {
    dealer = await world.dealer();
    await setRateLimit(world.db, TESTER, dealer.integrationId, 10);
    for (const path of ['/v1/health', '/v1/ready', '/v1/openapi.json']) {
      for (let sent = 0; sent < 15; sent++) {
        const response = await (sent % 2 === 0 ? world.client(null) : dealer.api).get(path);
        assert.equal(response.status, 200);
        for (const name of names) assert.equal(response.headers[name], undefined);
      }
    }
    const wrongKey = await world.client(null).get('/v1/health', { authorization: 'nonsense' });
    assert.deepEqual([wrongKey.status, wrongKey.body], [200, { status: 'ok', api_version: '2026-05-07' }]);
    assert.equal((await dealer.api.get('/v1/me')).headers['x-ratelimit-remaining'], '9');
  });
});
