import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exchange } from '../../../test/harness/http/api-client.ts';
import { sendRaw } from '../../../test/harness/http/raw-socket.ts';
import { startWorld } from '../../../test/harness/world.ts';

const LINES = 20;
const LIMITS = { lines: LINES, windowMs: 600_000 };

describe('the log of requests that no key limits', () => {
  it('is bounded for those that are refused: what is more is counted in one line, and requests that are served have theirs', async (t) => {
    const world = await startWorld({ lineLimits: { refused: LIMITS } });
    let isStopped = false;
    t.after(async () => {
      if (!isStopped) await world.stop();
    });
    const { api } = await world.dealer();
    for (let count = 0; count < LINES; count++) await exchange(`${world.origin}/api/v1/me`, {});
    for (let count = 0; count < LINES; count++) await exchange(`${world.origin}/nothing`, {});
    await sendRaw(world.port, 'nothing like HTTP\r\n\r\n');
    assert.equal((await api.get('/v1/me')).status, 200);
    await world.stop();
    isStopped = true;
    const lines = world.logLines.map((line) => JSON.parse(line));
    assert.equal(lines.filter(({ status }) => status >= 400).length, LINES);
    assert.equal(lines.filter(({ status, route }) => status === 200 && route === '/api/v1/me').length, 1);
    const [sum, ...others] = lines.filter(({ refused }) => refused !== undefined);
    assert.equal(others.length, 0);
    assert.deepEqual([sum.refused, sum.statuses], [LINES + 1, { 400: 1, 404: LINES }]);
  });

  it('is bounded for those that need no key, too, and requests with one have theirs', async () => {
    const world = await startWorld({ lineLimits: { keyless: LIMITS } });
    const { api } = await world.dealer();
    for (let count = 0; count < LINES + 5; count++) await exchange(`${world.origin}/api/v1/health`, {});
    await exchange(`${world.origin}/nothing`, {});
    assert.equal((await api.get('/v1/me')).status, 200);
    await world.stop();
    const lines = world.logLines.map((line) => JSON.parse(line));
    assert.equal(lines.filter(({ route }) => route === '/api/v1/health').length, LINES);
    assert.equal(lines.filter(({ status, route }) => status === 200 && route === '/api/v1/me').length, 1);
    assert.equal(lines.filter(({ status }) => status === 404).length, 1);
    const sums = lines.filter(({ keyless }) => keyless !== undefined);
    assert.deepEqual(
      sums.map(({ keyless, statuses }) => [keyless, statuses]),
      [[5, { 200: 5 }]],
    );
  });
});
