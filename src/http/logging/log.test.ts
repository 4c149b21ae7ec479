import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../test/harness/actor.ts';
import { exchange } from '../../../test/harness/http/api-client.ts';
import { rawSocket, sendRaw } from '../../../test/harness/http/raw-socket.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { openDatabase } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newApiKey } from '../../dealers/integrations/api-keys.ts';
import { setEnabled, setRateLimit } from '../../dealers/integrations/integrations.ts';
import { createLog } from './log.ts';

type Line = {
  level: string;
  time: string;
  msg: string;
  requestId?: string;
  integrationId?: string;
  route?: string;
  status?: number;
  code?: string;
  durationMs?: number;
  isAborted?: boolean;
  err?: { message: string };
};

describe('the log', () => {
  let world: World;
  let dealer: Dealer;
  /** A key that belongs to nobody; it may be logged no more than a good one. */
  const strangersKey = newApiKey();
  const email = 'ana.secret@private.example';

  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
  });
  after(() => world.stop());
  afterEach(() => {
    const text = world.logLines.join('\n');
    for (const secret of [dealer.apiKey, dealer.apiKey.slice(4), strangersKey, strangersKey.slice(4), email]) {
      assert.ok(!text.includes(secret), `a log line has ${secret}`);
    }
    assert.doesNotMatch(text, /"authorization"|Bearer|a=secret/i);
  });

  const lines = () => world.logLines.map((line): Line => JSON.parse(line));
  const linesOf = (requestId: string) => lines().filter((line) => line.requestId === requestId);

  /** The one line that a request left; it is written when the response has gone out, which the client may see first. */
  async function lineOf(requestId: string | undefined): Promise<Line> {
    assert.ok(requestId);
    while (linesOf(requestId).length === 0) await sleep(5);
    const found = linesOf(requestId);
    assert.equal(found.length, 1, JSON.stringify(found));
    return found[0] ?? assert.fail();
  }

  async function logged(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
    const response = await exchange(`${world.origin}${path}`, { method, headers, body });
    const line = await lineOf(response.headers['x-request-id']);
    assert.equal(line.status, response.status);
    assert.equal(typeof line.durationMs, 'number');
    assert.equal(line.code, response.body?.error?.code);
    return line;
  }

  const withKey = () => ({ authorization: `Bearer ${dealer.apiKey}` });

  it('has one line for a request, which says what, who, how it ended and how long it took', async () => {
    const line = await logged('GET', '/api/v1/me?limit=5&a=secret', withKey());
    const { time, durationMs, requestId, ...rest } = line;
    assert.deepEqual(rest, {
      level: 'info',
      integrationId: dealer.integrationId,
      route: '/api/v1/me',
      status: 200,
      msg: 'GET /api/v1/me 200',
    });
    assert.ok(!Number.isNaN(Date.parse(time)));
  });

  it('names the integration wherever the key was known, also on errors', async () => {
    for (const [method, path, code] of [
      ['GET', '/api/v1/nothing', 'route_not_found'],
      ['DELETE', '/api/v1/me', 'method_not_allowed'],
      ['GET', '/api/v1/listings?limit=abc', 'invalid_request'],
      ['GET', '/api/v1/listings?after=abc', 'invalid_cursor'],
      ['GET', '/api/v1/listings/lst_unknown', 'listing_not_found'],
      ['POST', '/api/v1/orders', 'missing_idempotency_key'],
    ] as const) {
      const line = await logged(method, path, withKey());
      assert.deepEqual([line.integrationId, line.code, line.level], [dealer.integrationId, code, 'info']);
    }
    await setEnabled(world.db, TESTER, dealer.integrationId, false);
    assert.equal((await logged('GET', '/api/v1/me', withKey())).integrationId, dealer.integrationId);
    await setEnabled(world.db, TESTER, dealer.integrationId, true);
    await setRateLimit(world.db, TESTER, dealer.integrationId, 10);
    let line: Line;
    do line = await logged('GET', '/api/v1/me', withKey());
    while (line.status !== 429);
    assert.deepEqual([line.integrationId, line.code], [dealer.integrationId, 'too_many_requests']);
    await setRateLimit(world.db, TESTER, dealer.integrationId, 10_000);
  });

  it('names nobody where no key was known, and keeps the key that was tried to itself', async () => {
    for (const authorization of [
      '',
      `Bearer ${strangersKey}`,
      `Bearer ${strangersKey}x`,
      `Basic ${strangersKey}`,
      strangersKey,
      `Bearer  ${dealer.apiKey}`,
    ]) {
      const line = await logged('GET', '/api/v1/me', { authorization });
      assert.deepEqual([line.status, line.integrationId], [401, undefined]);
    }
    assert.equal((await logged('GET', '/api/v1/health')).integrationId, undefined);
    assert.equal((await logged('GET', '/nothing')).integrationId, undefined);
  });

  it('hides a key that someone put into the URL', async () => {
    for (const path of [
      `/api/v1/me?api_key=${dealer.apiKey}`,
      `/api/v1/me?${dealer.apiKey}`,
      `/api/v1/me/${dealer.apiKey}`,
      `/api/v1/${dealer.apiKey}/listings`,
      `/${dealer.apiKey}`,
      `/api/v1/listings/${dealer.apiKey}`,
      `/api/v1/me#${dealer.apiKey}`,
      `/api/v1/me%ZZ${dealer.apiKey}`,
      `/api/v1/${dealer.apiKey.replace('_', '%5F')}`,
      `/api/v1/${dealer.apiKey.toUpperCase()}`,
      `/api/v1/${'a'.repeat(180)}${dealer.apiKey}`,
    ]) {
      const line = await logged('GET', path, withKey());
      assert.ok(!line.msg.includes('?'));
    }
    const masked = await logged('GET', `/api/v1/${dealer.apiKey}`, withKey());
    assert.equal(masked.msg, 'GET /api/v1/[hidden] 404');
    const absolute = `GET http://ana:${dealer.apiKey}@x/api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n`;
    const response = await sendRaw(world.port, absolute);
    assert.equal((await lineOf(response.headers['x-request-id'])).msg, 'GET /api/v1/me 401');
  });

  it('holds no more of a path than is useful', async () => {
    const line = await logged('GET', `/api/v1/${'a'.repeat(10_000)}`, withKey());
    assert.ok(line.msg.length < 300);
  });

  it('holds nothing of a body, whatever is wrong with it', async () => {
    for (const body of [
      `{"email":"${email}"}`,
      `{"email":"${email}"`,
      `{"email":"${email}\\u0000"}`,
      `{"email":["${email}"]}`,
      `${email}`,
      `{"external_id":"${dealer.apiKey}","email":"${email}"}`,
    ]) {
      const headers = { ...withKey(), 'content-type': 'application/json', 'idempotency-key': `log-${Math.random()}` };
      await logged('POST', '/api/v1/customers', headers, body);
    }
    const form = { ...withKey(), 'content-type': `application/${email}`, 'idempotency-key': 'log' };
    assert.equal((await logged('POST', '/api/v1/customers', form, 'x')).code, 'invalid_json');
  });

  it('has the cause of a fault of ours, and one line of it', async () => {
    await world.db.query(sql`alter table webhook_endpoints rename to elsewhere`);
    const line = await logged('GET', '/api/v1/me', withKey());
    await world.db.query(sql`alter table elsewhere rename to webhook_endpoints`);
    assert.deepEqual(
      [line.level, line.status, line.code, line.integrationId],
      ['error', 500, 'query_failed', dealer.integrationId],
    );
    assert.match(line.err?.message ?? '', /webhook_endpoints/);
  });

  it('has a line for what never became a request, with the id that was answered', async () => {
    const response = await sendRaw(world.port, `${dealer.apiKey} garbage\r\n\r\n`);
    const line = await lineOf(response.body.error.request_id);
    assert.deepEqual([line.status, line.code], [400, 'invalid_request']);
  });

  it('has a line for a request whose client went away', async () => {
    const aborted = () => lines().filter((line) => line.msg.startsWith('POST /api/v1/customers'));
    const before = aborted().length;
    const arrived = once(world.app.server, 'request');
    const client = rawSocket(world.port);
    const head = `POST /api/v1/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${dealer.apiKey}\r\n`;
    client.write(`${head}Idempotency-Key: gone\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    await arrived;
    // Keys are looked up in the order of arrival: when the answer is there, the first request has been admitted.
    await dealer.api.get('/v1/me');
    client.socket.resetAndDestroy();
    while (aborted().length === before) await sleep(5);
    await sleep(20);
    const [line, ...more] = aborted().slice(before);
    assert.deepEqual(more, []);
    assert.equal(line?.msg, 'POST /api/v1/customers aborted');
    assert.deepEqual([line.isAborted, line.integrationId, line.status], [true, dealer.integrationId, undefined]);
  });

  it('has no other lines than those of requests', () => {
    for (const line of lines()) assert.ok(line.requestId !== undefined || /^Server listening/.test(line.msg), line.msg);
  });
});

describe('the log of a service that cannot reach its database', () => {
  it('says why and does not say the password', async (t) => {
    const password = 'hunter2-hunter2';
    const unreachable = openDatabase({
      address: { url: `postgres://crownwheel:${password}@127.0.0.1:1/crownwheel?password=${password}` },
      poolSize: 1,
      onIdleError: () => {},
    });
    const world = await startWorld({ db: unreachable });
    t.after(async () => {
      await world.stop();
      await unreachable.close();
    });
    const { body } = await world.client(newApiKey()).get('/v1/me');
    assert.equal(body.error.code, 'auth_lookup_failed');
    const [line] = world.logLines.map((text): Line => JSON.parse(text)).filter((one) => one.requestId !== undefined);
    assert.deepEqual([line?.level, line?.code], ['error', 'auth_lookup_failed']);
    assert.match(line?.err?.message ?? '', /ECONNREFUSED/);
    assert.ok(!world.logLines.join('\n').includes(password));
  });
});

describe('a log line', () => {
  function linesFor(write: (log: ReturnType<typeof createLog>) => void): string[] {
    const written: string[] = [];
    write(
      createLog({ level: 'trace', isPretty: false, destination: { write: (line: string) => void written.push(line) } }),
    );
    for (const line of written) JSON.parse(line);
    return written;
  }

  it('hides keys, signing secrets and passwords wherever they stand, and stays JSON', () => {
    const key = newApiKey();
    const secret = `whsec_${key.slice(4)}`;
    const text = `key ${key}, secret ${secret}, postgres://ana:geheim@db/x and ?password=geheim&b=c`;
    const [line = ''] = linesFor((log) =>
      log.warn(
        { err: new Error(text, { cause: new Error(text) }), [key]: secret, url: 'http://x', time: 'a:b@c' },
        text,
      ),
    );
    for (const hidden of [key, key.slice(4), 'geheim']) assert.ok(!line.includes(hidden), line);
    assert.ok(line.includes('b=c'));
    assert.ok(line.includes('a:b@c'));
  });

  it('says what a database error was, not which row it met', async (t) => {
    const world = await startWorld();
    t.after(() => world.stop());
    const dealer = await world.dealer();
    const error = await world.db
      .query(sql`insert into webhook_endpoints (integration_id) values (${dealer.integrationId})`)
      .catch((caught: unknown) => caught);
    const [line = ''] = linesFor((log) => log.error({ err: new AggregateError([error], 'several') }, 'failed'));
    assert.match(line, /23505/);
    assert.match(line, /webhook_endpoints_pkey/);
    assert.ok(!line.includes(dealer.integrationId));
  });
});
