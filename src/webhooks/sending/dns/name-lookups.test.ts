import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../../test/harness/database/locks.ts';
import { type HostileReceiver, startHostile } from '../../../../test/harness/servers/hostile-receiver.ts';
import { type NameServer, startNameServer } from '../../../../test/harness/servers/name-server.ts';
import { createTokenBuckets } from '../../../concurrency/limits/token-buckets.ts';
import { createSender } from '../send.ts';
import { createSsrfGuard } from '../ssrf-guard.ts';
import { createNameLookups } from './name-lookups.ts';
import type { Resolve } from './resolve.ts';
import { resolveInThread, type ThreadResolver } from './resolve-in-thread.ts';

const PATIENT_MS = 30_000;
const FOUND = [{ address: '93.184.216.34', family: 4 }];

describe('names of receivers', () => {
  let names: NameServer;
  let receiver: HostileReceiver;
  let resolver: ThreadResolver;

  before(async () => {
    receiver = await startHostile((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    names = await startNameServer({
      'shop.example': ['93.184.216.34'],
      'inside.example': ['127.0.0.1'],
      'metadata.example': ['169.254.169.254'],
      'silent0.example': 'silent',
      'silent1.example': 'silent',
    });
    resolver = resolveInThread({ servers: [names.address], timeoutMs: 500 });
  });
  after(async () => {
    await resolver.end();
    await receiver.stop();
    await names.stop();
  });

  it('names of receivers that lead inside are refused, whatever the name server says, and however often', async (t) => {
    const lookUp = createNameLookups(resolver.resolve, { keptMs: PATIENT_MS });
    const sender = createSender({ guard: createSsrfGuard(false, lookUp), timeoutMs: 10_000 });
    t.after(() => sender.close());
    for (const name of ['inside.example', 'metadata.example', 'inside.example', 'metadata.example']) {
      const url = `https://${name}:${receiver.port}/`;
      const result = await sender.send({ dealer: 'org_1', url, headers: {}, body: '{}' });
      assert.match(result.error ?? '', /^ERR_FORBIDDEN_ADDRESS/, name);
    }
    const missing = await sender.send({ dealer: 'org_1', url: 'https://missing.example/', headers: {}, body: '{}' });
    assert.equal(missing.error, 'ENOTFOUND: queryA ENOTFOUND missing.example');
    assert.equal(receiver.connections, 0);
  });

  it('names of receivers that no server answers for make only the names of their dealer wait', async () => {
    const lookUp = createNameLookups(resolver.resolve);
    let ended = 0;
    const silent = ['silent0.example', 'silent1.example'].map((name) =>
      lookUp('org_1', name, PATIENT_MS).catch(() => {
        ended += 1;
      }),
    );
    await until(async () => names.asked.includes('silent0.example'), 'the name was never asked for');
    assert.equal((await lookUp('org_2', 'shop.example', PATIENT_MS)).length, 1);
    assert.equal(ended, 0, 'it waited for the silent ones');
    assert.equal(names.asked.includes('silent1.example'), false);
    await Promise.all(silent);
    assert.equal(ended, 2);
    assert.equal(names.asked.includes('silent1.example'), true);
  });

  /** As the system's lookup: two threads, which a silent name occupies. */
  function twoThreads() {
    let busy = 0;
    const waiting: (() => void)[] = [];
    const answers: (() => void)[] = [];
    const resolve: Resolve = async (hostname) => {
      if (busy === 2) await new Promise<void>((start) => waiting.push(start));
      busy += 1;
      if (hostname.startsWith('silent')) await new Promise<void>((answer) => answers.push(answer));
      busy -= 1;
      waiting.shift()?.();
      return FOUND;
    };
    return { resolve, answers };
  }

  it('names of receivers of one dealer never occupy the threads of the system', async () => {
    const { resolve, answers } = twoThreads();
    const lookUp = createNameLookups(resolve);
    const silent = [0, 1, 2, 3, 4, 5].map((index) => lookUp('org_1', `silent${index}.example`, PATIENT_MS));
    for (let count = 0; count < 5; count++) {
      assert.deepEqual(await lookUp('org_2', `shop${count}.example`, PATIENT_MS), FOUND);
    }
    for (let count = 0; count < silent.length; count++) {
      await until(async () => answers.length > 0, 'no thread was taken');
      assert.equal(answers.length, 1);
      answers.shift()?.();
    }
    await Promise.all(silent);
  });

  it('names of receivers wait for their turn until their deadline, and go on occupying it until they are answered', async () => {
    const { resolve, answers } = twoThreads();
    const lookUp = createNameLookups(resolve);
    const first = assert.rejects(lookUp('org_1', 'silent.example', 5), { code: 'ETIMEOUT' });
    await assert.rejects(lookUp('org_1', 'shop.example', 5), { code: 'ETIMEOUT', message: /not looked up in time/ });
    await first;
    const again = lookUp('org_1', 'silent.example', PATIENT_MS);
    assert.equal(answers.length, 1);
    answers.shift()?.();
    // By the answer of the lookup that nobody waited for any more.
    assert.deepEqual(await again, FOUND);
    assert.equal(answers.length, 0);
  });

  it('names of receivers beyond those that may wait are refused at once', async () => {
    const { resolve, answers } = twoThreads();
    const lookUp = createNameLookups(resolve);
    const waiting = Array.from({ length: 201 }, (_, index) =>
      lookUp('org_1', index === 0 ? 'silent.example' : `shop${index}.example`, PATIENT_MS),
    );
    await until(async () => answers.length > 0, 'no thread was taken');
    await assert.rejects(lookUp('org_1', 'shop.example', PATIENT_MS), { code: 'ERR_TOO_MANY_LOOKUPS' });
    assert.deepEqual(await lookUp('org_2', 'shop.example', PATIENT_MS), FOUND);
    answers.shift()?.();
    await Promise.all(waiting);
  });

  it('names of receivers are looked up once for all who ask at once, and again after a few seconds', async () => {
    let [asked, nowMs] = [0, 0];
    const resolve: Resolve = async (hostname) => {
      asked += 1;
      await new Promise(setImmediate);
      if (hostname === 'missing.example') throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
      return FOUND;
    };
    const lookUp = createNameLookups(resolve, { now: () => nowMs });
    await Promise.all(Array.from({ length: 50 }, () => lookUp('org_1', 'shop.example', PATIENT_MS)));
    assert.equal(asked, 1);
    await assert.rejects(lookUp('org_1', 'missing.example', PATIENT_MS), { code: 'ENOTFOUND' });
    nowMs = 3_999;
    await lookUp('org_1', 'shop.example', PATIENT_MS);
    await assert.rejects(lookUp('org_1', 'missing.example', PATIENT_MS), { code: 'ENOTFOUND' });
    assert.equal(asked, 2);
    await lookUp('org_2', 'shop.example', PATIENT_MS);
    assert.equal(asked, 3, 'dealers share no answers');
    nowMs = 4_000;
    await lookUp('org_1', 'shop.example', PATIENT_MS);
    assert.equal(asked, 4);
  });

  it('names of receivers wait while their dealer owes CPU time', async () => {
    let nowMs = 0;
    const times = createTokenBuckets({ burst: 50, perSecond: 50, keys: 10 }, () => nowMs);
    const asked: string[] = [];
    const resolve: Resolve = async (hostname, dealer) => {
      asked.push(hostname);
      if (hostname === 'long.example') times.spend(dealer, 51);
      return FOUND;
    };
    const lookUp = createNameLookups(resolve, { times });
    await lookUp('org_1', 'long.example', PATIENT_MS);
    const waiting = lookUp('org_1', 'shop.example', PATIENT_MS);
    await lookUp('org_2', 'shop.example', PATIENT_MS);
    assert.deepEqual(asked, ['long.example', 'shop.example']);
    await assert.rejects(lookUp('org_1', 'other.example', 5), { code: 'ETIMEOUT' });
    nowMs = 20;
    await waiting;
    assert.deepEqual(asked, ['long.example', 'shop.example', 'shop.example']);
  });
});
