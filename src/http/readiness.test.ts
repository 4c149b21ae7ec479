import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startWorld, type World } from '../../test/harness/world.ts';
import { createReadiness, type Readiness } from './readiness.ts';

describe('readiness', () => {
  let world: World;
  let readiness: Readiness;
  let pings = 0;
  before(async () => {
    readiness = createReadiness(async () => {
      pings += 1;
    });
    world = await startWorld({ readiness });
  });
  after(() => world.stop());

  const ready = () => world.client(null).get('/v1/ready');

  it('is answered without a key, and the database is not asked once for each request', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, ready));
    for (const { status, body, headers } of answers) {
      assert.deepEqual([status, body], [200, { status: 'ready' }]);
      assert.equal(headers['cache-control'], 'no-store');
    }
    assert.equal(pings, 1);
  });

  it('ends with the drain: 503 not_ready, while every other request is served with Connection: close', async () => {
    const dealer = await world.dealer();
    const before = await dealer.api.get('/v1/me');
    assert.deepEqual([before.status, before.headers.connection], [200, 'keep-alive']);
    readiness.drain();
    const { status, body, headers } = await ready();
    assert.deepEqual([status, body.error.code, headers.connection], [503, 'not_ready', 'close']);
    for (const [path, expected] of [
      ['/v1/me', 200],
      ['/v1/listings', 200],
      ['/v1/nothing', 404],
    ] as const) {
      const answer = await dealer.api.get(path);
      assert.deepEqual([answer.status, answer.headers.connection], [expected, 'close'], path);
    }
    const refused = await world.client(null).get('/v1/me');
    assert.deepEqual([refused.status, refused.headers.connection], [401, 'close']);
  });

  it('answers 503 to a probe without an error in the log: the probe asks for it', () => {
    const lines = world.logLines.map((line) => JSON.parse(line)).filter(({ code }) => code === 'not_ready');
    assert.deepEqual(
      lines.map(({ level, status, msg, err }) => [level, status, msg, err]),
      [['info', 503, 'GET /api/v1/ready 503', undefined]],
    );
  });
});
