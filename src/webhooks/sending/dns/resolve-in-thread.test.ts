import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type NameServer, startNameServer } from '../../../../test/harness/servers/name-server.ts';
import { createTokenBuckets } from '../../../concurrency/limits/token-buckets.ts';
import { threadMs } from '../thread-time.ts';
import { DnsThreadError, resolveInThread, type ThreadResolver } from './resolve-in-thread.ts';

const LOOKUPS = 10;
/** Of these tests, because what they use up must not be missing elsewhere in the process. */
const newTimes = () => createTokenBuckets({ burst: 0, perSecond: 1, keys: 10 }, () => 0);

describe('a lookup of a name', () => {
  let names: NameServer;
  let resolver: ThreadResolver;

  before(async () => {
    const range = (length: number, addressOf: (index: number) => string) =>
      Array.from({ length }, (_, i) => addressOf(i));
    names = await startNameServer({
      'shop.example': ['93.184.216.34', '2606:4700::1', '93.184.216.35'],
      'empty.example': [],
      'silent.example': 'silent',
      'large.example': [
        ...range(3_500, (index) => `93.184.${index >> 8}.${index & 255}`),
        ...range(2_300, (index) => `2606:4700::${(index + 1).toString(16)}`),
      ],
      'aliases.example': { aliases: 2_000 },
    });
    resolver = resolveInThread({ servers: [names.address] }, { times: newTimes() });
  });
  after(async () => {
    await resolver.end();
    await names.stop();
  });

  it('a lookup of a name asks the name servers, and gives IPv4 before IPv6', async () => {
    const { resolve } = resolver;
    assert.deepEqual(await resolve('shop.example', 'org_1'), [
      { address: '93.184.216.34', family: 4 },
      { address: '93.184.216.35', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ]);
    await assert.rejects(resolve('missing.example', 'org_1'), {
      code: 'ENOTFOUND',
      message: 'queryA ENOTFOUND missing.example',
    });
    await assert.rejects(resolve('empty.example', 'org_1'), { code: 'ENODATA' });
    await assert.rejects(resolve('localhost.shop.example', 'org_1'), { code: 'ENOTFOUND' });
  });

  it('a lookup of a name takes no CPU time of the event loop, however long the answer is', async () => {
    for (const name of ['large.example', 'aliases.example']) {
      // The answer is made by the first question, and the thread has been started.
      const found = await resolver.resolve(name, 'org_1');
      assert.equal(found.length, name === 'large.example' ? 16 : 1);
      const startedMs = threadMs();
      for (let count = 0; count < LOOKUPS; count++) await resolver.resolve(name, 'org_1');
      const eachMs = (threadMs() - startedMs) / LOOKUPS;
      // The name server takes some of it. Parsing would take 40 ms and more.
      assert.ok(eachMs < 12, `${name} took ${eachMs} ms each`);
    }
  });

  it('a lookup of a name whose answer takes long is charged to its dealer, and to no other in the same moment', async () => {
    const times = newTimes();
    const { resolve, end } = resolveInThread({ servers: [names.address] }, { times });
    try {
      await resolve('shop.example', 'first');
      const owed = () => ['before', 'long', 'after'].map((dealer) => times.debtMs(dealer) / 1_000);
      const shares: number[] = [];
      for (let count = 0; count < LOOKUPS; count++) {
        const [beforeOwed = 0, longOwed = 0, afterOwed = 0] = owed();
        await Promise.all([
          resolve('shop.example', 'before'),
          resolve('aliases.example', 'long'),
          resolve('shop.example', 'after'),
        ]);
        const [before = 0, long = 0, behind = 0] = owed();
        shares.push((before - beforeOwed + behind - afterOwed) / (long - longOwed));
      }
      const [, long = 0] = owed();
      assert.ok(long > LOOKUPS * 20, `long owes ${long} ms`);
      // Of most lookups: on a busy machine a round may end between the two times that an answer is parsed.
      const [median = 1] = shares.sort((a, b) => a - b).slice(LOOKUPS / 2);
      assert.ok(median < 1 / 10, `the others owe these shares of it: ${shares}`);
    } finally {
      await end();
    }
  });

  it('a lookup of a name that no server answers for ends after two tries, whatever was asked before', async () => {
    const { resolve, end } = resolveInThread({ servers: [names.address], timeoutMs: 200 });
    try {
      for (let count = 0; count < 20; count++) await resolve('shop.example', 'org_1');
      names.asked.length = 0;
      const startedAt = performance.now();
      await assert.rejects(resolve('silent.example', 'org_1'), {
        code: 'ETIMEOUT',
        message: 'queryA ETIMEOUT silent.example',
      });
      assert.ok(performance.now() - startedAt > 2 * 190, 'the timeout was shortened');
      // Each for both families.
      assert.equal(names.asked.length, 4);
    } finally {
      await end();
    }
  });

  it('a lookup of a name ends before many silent name servers have been tried', async () => {
    const silent = await Promise.all([1, 2, 3, 4].map(() => startNameServer({ 'silent.example': 'silent' })));
    const { resolve, end } = resolveInThread({ servers: silent.map(({ address }) => address), timeoutMs: 200 });
    try {
      await assert.rejects(resolve('silent.example', 'org_1'), {
        code: 'ETIMEOUT',
        message: 'queryA ETIMEOUT silent.example',
      });
      // Two tries of each, for both families.
      assert.ok(silent.flatMap(({ asked }) => asked).length < 4 * 4);
    } finally {
      await end();
      await Promise.all(silent.map((server) => server.stop()));
    }
  });

  it('a lookup of a name starts another thread if the one before has died', async () => {
    const { resolve, end } = resolveInThread({ servers: [names.address], timeoutMs: 60_000 });
    try {
      const waiting = assert.rejects(resolve('silent.example', 'org_1'), DnsThreadError);
      // What is no name at all is a fault that nothing in the thread catches.
      await assert.rejects(resolve(1 as never, 'org_1'), DnsThreadError);
      await waiting;
      assert.equal((await resolve('shop.example', 'org_1')).length, 3);
    } finally {
      await end();
    }
  });

  it('a lookup of a name starts another thread if the one before does not answer in time', async () => {
    const { resolve, end } = resolveInThread({ servers: [names.address], timeoutMs: 60_000 }, { answerLimitMs: 3_000 });
    try {
      await assert.rejects(resolve('silent.example', 'org_1'), DnsThreadError);
      assert.equal((await resolve('shop.example', 'org_1')).length, 3);
    } finally {
      await end();
    }
  });
});
