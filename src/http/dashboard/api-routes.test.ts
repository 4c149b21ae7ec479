import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DashboardAnswer, dashboardClient, signedIn } from '../../../test/harness/http/dashboard-client.ts';
import { rawSocket } from '../../../test/harness/http/raw-socket.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { PUBLIC_BODY_LIMIT_BYTES } from '../../contract/dashboard/limits.ts';
import type { DashboardOperation } from '../../contract/dashboard/operation.ts';
import { DASHBOARD_OPERATIONS } from '../../contract/dashboard/operations.ts';
import { sql } from '../../db/sql.ts';

/** The service relies for a second on what a session was when the request began. */
const LATE_MS = 1_500;

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

  it('read no body of a request to an unknown path', async (t) => {
    const client = rawSocket(world.port);
    t.after(client.close);
    // The rest of the body never comes.
    client.write(
      `POST /api/dashboard/nothing HTTP/1.1\r\nHost: x\r\nOrigin: ${world.channel.publicUrl}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"a":`,
    );
    const answer = await client.next();
    assert.equal(answer.status, 404);
    assert.equal(answer.body.error.code, 'route_not_found');
  });

  it('take no large body of somebody who is not known', async () => {
    const anonymous = dashboardClient(world);
    const operations = Object.values(DASHBOARD_OPERATIONS) as DashboardOperation[];
    const open = operations.filter(({ access, body }) => access === 'public' && body !== null);
    assert.ok(open.length > 4, `only ${open.length} operations`);
    for (const { method, path } of open) {
      const answer = await anonymous.call(method, path, { more: 'x'.repeat(PUBLIC_BODY_LIMIT_BYTES) });
      assert.equal(answer.status, 413, path);
      assert.equal(answer.body.error.code, 'request_too_large');
    }
  });

  type Person = Awaited<ReturnType<typeof signedIn>>;
  type End = { name: string; end: (owner: Person, person: Person) => Promise<DashboardAnswer>; refused: number };
  const ends: End[] = [
    {
      name: 'demoted',
      end: (owner, { userId }) => owner.call('PATCH', `/team/${userId}`, { role: 'staff' }),
      refused: 403,
    },
    { name: 'removed', end: (owner, { userId }) => owner.call('DELETE', `/team/${userId}`), refused: 401 },
    { name: 'signed out', end: (_owner, person) => person.call('DELETE', '/session'), refused: 401 },
  ];
  for (const { name, end, refused } of ends) {
    it(`do nothing for somebody who is ${name} while the body comes`, async (t) => {
      const dealer = await world.dealer();
      const { organizationId, integrationId } = dealer;
      const owner = await signedIn(world, { organizationId });
      const person = await signedIn(world, { organizationId });
      const key = sendSlowly(t, person, `/integrations/${integrationId}/key`, 'application/json', '{}');
      const file = sendSlowly(t, person, '/imports?kind=listing', 'text/csv', 'stock_number,title\nW-1,Late\n');
      await sleep(LATE_MS);
      const ended = await end(owner, person);
      assert.ok(ended.status < 300, ended.text);
      const answer = await key.finish();
      assert.equal(answer.status, refused, answer.text);
      // Staff may upload files, too.
      const uploaded = await file.finish();
      assert.equal(uploaded.status, name === 'demoted' ? 200 : refused, uploaded.text);
      const files = await world.db.query(sql`select id from stock_files where organization_id = ${organizationId}`);
      assert.equal(files.length, name === 'demoted' ? 1 : 0);
      assert.equal((await dealer.api.get('/v1/me')).status, 200);
    });
  }

  /** Leaves the last byte of the body for `finish`. */
  function sendSlowly(t: TestContext, person: Person, path: string, type: string, body: string) {
    const client = rawSocket(world.port);
    t.after(client.close);
    client.write(
      `POST /api/dashboard${path} HTTP/1.1\r\nHost: localhost\r\nOrigin: ${world.channel.publicUrl}\r\nCookie: ${person.cookie()}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
    );
    return {
      async finish() {
        client.write(body.slice(-1));
        return await client.next();
      },
    };
  }

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
