import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { hashApiKey } from '../../src/dealers/integrations/api-keys.ts';
import { setUrl } from '../../src/webhooks/endpoints/endpoint-settings.ts';
import { createSecretEncryption } from '../../src/webhooks/endpoints/secret-encryption.ts';
import { createSsrfGuard } from '../../src/webhooks/sending/ssrf-guard.ts';
import { TESTER } from '../harness/actor.ts';
import { holdLock } from '../harness/database/locks.ts';
import { apiClient } from '../harness/http/api-client.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import {
  childrenOf,
  commandOf,
  DEMO_KEY,
  databaseIn,
  type Service,
  seededFolder,
  startAndFail,
  startService,
  statusOf,
  sweep,
  temporaryFolder,
  until,
} from './service-process.ts';

const PROCESSES = 2;
const RATE_LIMIT = 40;
const CLIENTS = 6;
/** A client whose request failed goes on after this. */
const PAUSE_MS = 100;

describe('several processes of one service on one port and one embedded database', () => {
  let service: Service;
  let db: Database;
  let dataDir: string;
  const api = () => apiClient(service.origin, DEMO_KEY);
  const own = sql`key_hash = ${hashApiKey(DEMO_KEY)}`;

  before(async () => {
    dataDir = await seededFolder();
    service = await startService({
      env: { DATA_DIR: dataDir, PROCESSES: String(PROCESSES), ROLES: 'api,worker' },
    });
    await service.says('Stop:');
    db = databaseIn(dataDir);
  });
  after(async () => {
    await db?.close();
    await sweep();
  });

  /** Each on a connection of its own, which goes to the next process. */
  const askOften = (times: number) =>
    Promise.all(
      Array.from({ length: times }, () =>
        statusOf(`${service.origin}/api/v1/me`, { authorization: `Bearer ${DEMO_KEY}` }),
      ),
    );
  const answersOfEach = () =>
    Array.from(
      { length: PROCESSES },
      (_, index) => service.err().split(`"process":${index + 1},"requestId"`).length - 1,
    );
  /** Until as many run as before, and that one is not among them. */
  const untilReplaced = (victim: number) => {
    return until(
      async () => {
        const pids = await childrenOf(service);
        return pids.length === PROCESSES && !pids.includes(victim);
      },
      () => `it was not started again: ${service.err().slice(-2_000)}`,
    );
  };
  const countOf = (statuses: (number | null)[], status: number) => statuses.filter((one) => one === status).length;

  it('share the requests, and count one rate limit exactly', async () => {
    assert.match(service.out(), /Processes {2}2, and one that supervises them/);
    assert.equal((await childrenOf(service)).length, PROCESSES);
    assert.equal(await statusOf(`${service.origin}/api/v1/ready`), 200);
    await db.query(sql`update integrations set rate_limit_override = ${RATE_LIMIT} where ${own}`);
    const statuses = await askOften(RATE_LIMIT + 20);
    await db.query(sql`update integrations set rate_limit_override = 1000000 where ${own}`);
    assert.deepEqual([countOf(statuses, 200), countOf(statuses, 429)], [RATE_LIMIT, 20]);
    // A line of the log may come after the answer.
    await until(
      () => answersOfEach().every((count) => count > 0),
      () => `one of them answered nothing: ${service.err().slice(-2_000)}`,
    );
  });

  it('obey a change with the next request, whichever of them answers it', async () => {
    assert.equal(countOf(await askOften(8), 200), 8);
    await db.query(sql`update integrations set is_enabled = false where ${own}`);
    assert.equal(countOf(await askOften(8), 403), 8);
    await db.query(sql`update integrations set is_enabled = true where ${own}`);
    assert.equal(countOf(await askOften(8), 200), 8);
  });

  it('have one worker beside them, which sends the events that they record', async (t) => {
    const receiver = await startReceiver();
    t.after(() => receiver.stop());
    const [integration] = await db.query<{ id: string }>(sql`select id from integrations where ${own}`);
    const keys = (await readFile(join(dataDir, 'secret-keys'), 'utf8')).split('\n').filter(Boolean);
    const tools = { guard: createSsrfGuard(true), encryption: createSecretEncryption(keys) };
    await setUrl(db, TESTER, tools, integration?.id ?? '', receiver.url);
    const { body } = await api().post('/v1/test/webhook_ping', {}, { 'idempotency-key': randomUUID() });
    assert.equal(body.enqueued, true);
    await receiver.until(1, 60_000);
  });

  it('lose no acknowledged order when one of them is killed under load; the others go on, and it is started again', async () => {
    const acknowledged: string[] = [];
    const sent: { body: { channel_order_id: string }; key: { 'idempotency-key': string } }[] = [];
    const load = new AbortController();
    const keepReporting = async () => {
      while (!load.signal.aborted) {
        const body = { channel_order_id: `P-${sent.length}` };
        const key = { 'idempotency-key': randomUUID() };
        sent.push({ body, key });
        const answer = await api()
          .post('/v1/orders', body, key)
          .catch(() => null);
        if (answer?.status === 201) acknowledged.push(body.channel_order_id);
        else await sleep(PAUSE_MS);
      }
    };
    const clients = Array.from({ length: CLIENTS }, keepReporting);
    const more = (count: number) => {
      const known = acknowledged.length;
      return until(
        () => acknowledged.length >= known + count,
        () => `no orders came through: ${service.err().slice(-2_000)}`,
      );
    };
    await more(20);
    const [victim = 0, survivor = 0] = await childrenOf(service);
    process.kill(victim, 'SIGKILL');
    await more(20);
    await until(
      async () => {
        const pids = await childrenOf(service);
        return pids.length === PROCESSES && pids.includes(survivor) && !pids.includes(victim);
      },
      () => `it was not started again: ${service.err().slice(-2_000)}`,
    );
    assert.match(service.err(), /"signal":"SIGKILL".*"a process ended; it is started again"/);
    load.abort();
    await Promise.all(clients);

    for (const { body, key } of sent) assert.equal((await api().post('/v1/orders', body, key)).status, 201);
    const stored = await db.query<{ id: string }>(sql`
      select channel_order_id as id from orders where channel_order_id like 'P-%'`);
    assert.equal(stored.length, sent.length, 'each order exists once');
    const ids = new Set(stored.map((row) => row.id));
    assert.deepEqual(
      acknowledged.filter((id) => !ids.has(id)),
      [],
    );
  });

  it('have the same secret keys, also one that is started again after the file of the keys has gone', async () => {
    const { body } = await api().get('/v1/listings?limit=1');
    const nextPage = `${service.origin}/api/v1/listings?limit=1&after=${encodeURIComponent(body.next_cursor)}`;
    const [file, aside] = [join(dataDir, 'secret-keys'), join(dataDir, 'secret-keys.aside')];
    await rename(file, aside);
    const [victim = 0] = await childrenOf(service);
    process.kill(victim, 'SIGKILL');
    await untilReplaced(victim);
    const before = answersOfEach();
    await until(
      async () => {
        const status = await statusOf(nextPage, { authorization: `Bearer ${DEMO_KEY}` });
        // A connection may have gone to the one that was ended.
        assert.ok(status === 200 || status === null, `a page was answered ${status}`);
        return answersOfEach().every((count, index) => count > (before[index] ?? 0));
      },
      () => `one of them answered nothing: ${service.err().slice(-2_000)}`,
    );
    assert.equal(existsSync(file), false);
    await rename(aside, file);
  });

  it('are ended and started again when they hang', async () => {
    const [victim = 0] = await childrenOf(service);
    process.kill(victim, 'SIGSTOP');
    await untilReplaced(victim);
    assert.match(service.err(), /"a process hangs; it is ended"/);
    assert.deepEqual(await askOften(PROCESSES), [200, 200]);
  });

  it('finish their requests when the service is stopped, and end before the database does', async () => {
    const pids = await childrenOf(service);
    const lock = await holdLock(db, 'lock table integrations in access exclusive mode', []);
    const waiting = askOften(1);
    // The lookup of the key itself: the worker waits for the same table.
    await until(
      async () =>
        (
          await db.query(sql`
          select pid from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%key_hash%' and pid <> pg_backend_pid()`)
        ).length > 0,
      () => 'the request never waited for the lock',
    );
    // As systemd does: to all of them at once.
    service.signalGroup('SIGTERM');
    await service.says('Stopping: finishing requests');
    await lock.release();
    assert.deepEqual(await waiting, [200]);
    assert.equal(await service.exit(), 0, service.err());
    assert.match(service.out(), /Stopped\.\n$/);
    for (const pid of pids) assert.equal(await commandOf(pid), '', `process ${pid} is still there`);
  });

  it('refuse to start with a rate limit that is counted in memory, or when one of them can’t start', async () => {
    const env = { DATA_DIR: await temporaryFolder(), PROCESSES: '2', RATE_LIMIT_STORE: 'memory' };
    const memory = await startAndFail({ env });
    assert.match(memory.err(), /^crownwheel: RATE_LIMIT_STORE=memory counts within one process; .*\n$/);
    const nonsense = await startAndFail({ env: { ...env, PROCESSES: 'many', RATE_LIMIT_STORE: '' } });
    assert.match(nonsense.err(), /^crownwheel: PROCESSES must be a whole number from 1 to 64; it is "many"\n$/);
  });
});
