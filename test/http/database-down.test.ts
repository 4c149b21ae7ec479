import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { rawSql } from '../../src/db/sql.ts';
import { setRateLimit } from '../../src/dealers/integrations/integrations.ts';
import { postgresStore } from '../../src/http/public/rate-limit/postgres-store.ts';
import { TESTER } from '../harness/actor.ts';
import type { ApiResponse } from '../harness/http/api-client.ts';
import { type OwnServer, startOwnServer } from '../harness/servers/own-server.ts';
import { type Dealer, startWorld, type World } from '../harness/world.ts';

/** More than the sum of all time limits on the way; a request that takes longer is not bounded. */
const PATIENCE_MS = 20_000;
const POOL_SIZE = 4;

describe('with the database down', () => {
  let server: OwnServer;
  let db: Database;
  /** For what a test does to the database behind the service's back. */
  let admin: Database;
  let world: World;
  let dealer: Dealer;

  before(async () => {
    server = await startOwnServer();
    db = openDatabase({
      address: server.address,
      poolSize: POOL_SIZE,
      onIdleError: () => {},
      connectTimeoutMs: 500,
      statementTimeoutMs: 1_000,
    });
    admin = openDatabase({ address: server.address, poolSize: 2, onIdleError: () => {} });
    await migrate(db);
    const drop = async () => await db.close();
    world = await startWorld({
      database: { db, address: server.address, drop },
      rateLimits: postgresStore(db),
    });
    dealer = await world.dealer();
    await setRateLimit(db, TESTER, dealer.integrationId, 1_000_000);
  });
  after(async () => {
    await world.stop();
    await admin.close();
    await server.remove();
  });
  // One service lives through all of it and is never started again.
  afterEach(async () => {
    assert.equal((await untilServed()).status, 200);
    await untilReadiness(200);
  });

  const read = () => dealer.api.get('/v1/me');

  async function untilServed(): Promise<ApiResponse> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const response = await read();
      if (response.status === 200 || Date.now() > deadline) return response;
      await sleep(20);
    }
  }

  /** What it says may be half a second old. */
  async function untilReadiness(status: number): Promise<ApiResponse> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const response = await world.client(null).get('/v1/ready');
      if (response.status === status) return response;
      assert.ok(Date.now() < deadline, `readiness never was ${status}`);
      await sleep(20);
    }
  }

  async function inTime<Result>(answer: Promise<Result>): Promise<Result> {
    const late = sleep(PATIENCE_MS, undefined, { ref: false }).then(() => assert.fail('no answer in bounded time'));
    return await Promise.race([answer, late]);
  }

  async function assertDown(): Promise<void> {
    const answers = await inTime(Promise.all(Array.from({ length: 10 }, read)));
    for (const { status, body, headers } of answers) {
      assert.deepEqual([status, body.error?.code], [401, 'auth_lookup_failed']);
      assert.equal(body.error.type, 'authentication_error');
      assert.equal(headers['x-ratelimit-remaining'], undefined);
    }
    for (const path of ['/v1/health', '/v1/openapi.json']) {
      assert.equal((await world.client(null).get(path)).status, 200);
    }
    assert.equal((await untilReadiness(503)).body.error.code, 'not_ready');
    const malformed = await world.client(null).get('/v1/me', { authorization: 'nonsense' });
    assert.equal(malformed.body.error.code, 'malformed_authorization');
  }

  /** Clients that go on through whatever happens; every answer they get is a true one. */
  function startTraffic(): { until(answer: string): Promise<void>; stop(): Promise<Set<string>> } {
    let isStopped = false;
    const seen = new Set<string>();
    async function client(): Promise<void> {
      while (!isStopped) {
        const { status, body } = await inTime(read());
        seen.add(status === 200 ? 'served' : `${status} ${body.error.code}`);
        await sleep(5);
      }
    }
    const clients = Array.from({ length: 8 }, client);
    return {
      async until(answer) {
        const deadline = Date.now() + PATIENCE_MS;
        while (!seen.has(answer) && Date.now() < deadline) await sleep(5);
      },
      async stop() {
        isStopped = true;
        await Promise.all(clients);
        return seen;
      },
    };
  }

  function assertTruthful(seen: Set<string>): void {
    // Reads of one integration that wait behind its own hanging ones are answered with that reason.
    const allowed = new Set(['served', '401 auth_lookup_failed', '500 query_failed', '503 overloaded']);
    assert.deepEqual([...seen.difference(allowed)], []);
  }

  it('answers auth_lookup_failed while the server is shut down, and serves when it is back', async () => {
    await server.stop();
    await assertDown();
    await server.start();
    assert.equal((await untilServed()).status, 200);
  });

  it('answers auth_lookup_failed after the server was killed, and serves when it is back', async () => {
    await server.kill();
    await server.stop();
    await assertDown();
    await server.start();
    assert.equal((await untilServed()).status, 200);
  });

  it('settles every request that is under way when the server is shut down, killed and brought back', async () => {
    const traffic = startTraffic();
    await traffic.until('served');
    await server.stop();
    await traffic.until('401 auth_lookup_failed');
    await server.start();
    await untilServed();
    await server.kill();
    // Its owner brings it back.
    await untilServed();
    const seen = await traffic.stop();
    assertTruthful(seen);
    assert.ok(seen.has('served') && seen.has('401 auth_lookup_failed'), [...seen].join());
  });

  it('answers auth_lookup_failed in bounded time while the server hangs, and serves when it goes on', async () => {
    await read();
    await server.freeze();
    const early = Promise.all(Array.from({ length: 20 }, read));
    await sleep(300);
    // These wait for the lookup that the early ones hang in, and then for their own.
    const late = Promise.all(Array.from({ length: 20 }, read));
    for (const { body } of [...(await inTime(early)), ...(await inTime(late))]) {
      assert.equal(body.error.code, 'auth_lookup_failed');
    }
    await assertDown();
    server.thaw();
    assert.equal((await untilServed()).status, 200);
  });

  it('answers query_failed when the key can be checked and the read fails', async () => {
    await admin.query(rawSql('alter table webhook_endpoints rename to elsewhere'));
    const { status, body, headers } = await read();
    await admin.query(rawSql('alter table elsewhere rename to webhook_endpoints'));
    assert.deepEqual([status, body.error.code, body.error.type], [500, 'query_failed', 'api_error']);
    assert.ok(headers['x-ratelimit-remaining'], 'it was authenticated, so it counts');
    assert.doesNotMatch(JSON.stringify(body), /webhook_endpoints|relation|select/);
  });

  it('answers query_failed in bounded time when the read waits for a lock', async () => {
    await admin.transaction(async (tx) => {
      await tx.query(rawSql('lock table webhook_endpoints in access exclusive mode'));
      const { status, body } = await inTime(read());
      assert.deepEqual([status, body.error.code], [500, 'query_failed']);
    });
  });

  it('answers every request in bounded time when all connections are taken', async () => {
    const seen = new Set<string>();
    await admin.transaction(async (tx) => {
      await tx.query(rawSql('lock table webhook_endpoints in access exclusive mode'));
      const answers = await inTime(Promise.all(Array.from({ length: POOL_SIZE * 5 }, read)));
      for (const { status, body } of answers) seen.add(`${status} ${body.error?.code}`);
    });
    assertTruthful(seen);
    assert.equal((await read()).status, 200, 'and serves at once when they are free');
  });

  it('answers auth_lookup_failed when the rate limit cannot be counted', async () => {
    await admin.query(rawSql('alter table rate_windows rename to elsewhere'));
    const { status, body } = await read();
    await admin.query(rawSql('alter table elsewhere rename to rate_windows'));
    assert.deepEqual([status, body.error.code], [401, 'auth_lookup_failed']);
  });
});
