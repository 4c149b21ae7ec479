import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../test/harness/http/dashboard-client.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import type { DashboardOperation } from '../../contract/dashboard/operation.ts';
import { DASHBOARD_OPERATIONS } from '../../contract/dashboard/operations.ts';

describe('the routes of the dashboard', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('offer no HEAD, which would run an operation for an answer that nobody reads', async () => {
    const person = await signedIn(world);
    const operations = Object.values(DASHBOARD_OPERATIONS) as DashboardOperation[];
    const reads = operations.filter(({ method }) => method === 'GET');
    assert.ok(reads.length > 30, `only ${reads.length} operations are read`);
    for (const { path } of reads) {
      const address = `${world.origin}/api/dashboard${path.replaceAll(/\{\w+\}/g, 'x')}`;
      const answer = await fetch(address, { method: 'HEAD', headers: { cookie: person.cookie() } });
      assert.equal(answer.status, 404, path);
    }
  });

  it('refuse a leap second, of which no Date can be made, in queries and bodies', async () => {
    const person = await signedIn(world);
    const leapSecond = '2016-12-31T23:59:60Z';
    for (const list of ['/orders', '/sales', '/requests', '/audit']) {
      for (const path of [list, list === '/audit' ? '/audit/export' : `${list}/export.csv`]) {
        for (const end of ['from', 'to']) {
          const answer = await person.call('GET', `${path}?${end}=${leapSecond}`);
          assert.equal(answer.status, 400, `${path} ${answer.text}`);
          assert.equal(answer.body.error.field, end);
        }
      }
    }
    const promotion = { price_amount: 100, starts_at: null, ends_at: leapSecond };
    const started = await person.call('POST', '/items/itm_x/promotions', promotion);
    assert.deepEqual([started.status, started.body.error.field], [400, 'ends_at'], started.text);
  });
});
