import assert from 'node:assert/strict';
import { Agent, request as send } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { migratedFolder, ROOT_DIR, type Service, startService, sweep, until } from './service-process.ts';

/** A request that is kept has five kilobytes and more. */
const KEPT_LIMIT_BYTES = 4_000;
const WARM_UP = 88;
const REQUESTS = 96;
const ROUNDS = 7;
const AT_ONCE = 8;

/**
 * What an answered request leaves in memory must die in a collection of young objects, which is short. A value in a WeakMap
 * does not: such a collection keeps it alive, with all that it refers to, until the next full one. All requests together then
 * make every collection several times as long, and everybody waits for it.
 */
describe('an answered request', () => {
  let service: Service;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  before(async () => {
    const env = {
      DATA_DIR: await migratedFolder(),
      DEMO: 'off',
      ROLES: 'api,dashboard,worker',
      NODE_OPTIONS: `--import ${join(ROOT_DIR, 'test/service/report-heap.ts')}`,
    };
    service = await startService({ env });
    await service.isHealthy();
  });
  after(async () => {
    agent.destroy();
    await sweep();
  });

  function answer(method: string, path: string, body?: string): Promise<number | undefined> {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const sent = send(service.origin + path, { agent, method, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      sent.on('error', reject).end(body);
    });
  }

  async function askMany(count: number, ask: () => Promise<number | undefined>, status: number): Promise<void> {
    const askInTurn = async () => {
      for (let asked = 0; asked < count / AT_ONCE; asked++) assert.equal(await ask(), status);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askInTurn));
  }

  async function heapBytes(): Promise<number> {
    const reports = () => [...service.out().matchAll(/heap (\d+)\n/g)];
    const { length } = reports();
    service.signal('SIGUSR2');
    await until(
      () => reports().length > length,
      () => 'the service did not report its heap',
    );
    return Number(reports().at(-1)?.[1]);
  }

  // Without the database: of what is prepared for a statement, some outlives a collection while the code is not compiled yet.
  const cases = [
    { name: 'that was answered', ask: () => answer('GET', '/api/v1/ready'), status: 200 },
    { name: 'that was refused', ask: () => answer('POST', '/api/v1/orders', '{}'), status: 401 },
    { name: 'of the dashboard', ask: () => answer('GET', '/api/dashboard/session'), status: 401 },
  ];
  for (const { name, ask, status } of cases) {
    it(`${name} does not outlive a collection of young objects`, async () => {
      await askMany(WARM_UP, ask, status);
      const kept: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const before = await heapBytes();
        await askMany(REQUESTS, ask, status);
        kept.push(Math.round(((await heapBytes()) - before) / REQUESTS));
      }
      // A full collection hides what a round kept, but comes in two of them at most. Code that is compiled looks like it, for
      // several rounds on a busy machine; what is kept of each request shows in all others.
      const [, , thirdLeast = 0] = kept.toSorted((a, b) => a - b);
      assert.ok(thirdLeast < KEPT_LIMIT_BYTES, `bytes kept of each request: ${kept.join(', ')}`);
    });
  }
});
