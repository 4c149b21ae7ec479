import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { dashboardClient, signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';

const BURST = 5;
/** So little that no token comes back while the test runs. */
const PER_SECOND = 0.001;

describe('requests to the dashboard', () => {
  let world: World;
  before(async () => {
    world = await startWorld({
      dashboardRate: { burst: BURST, perSecond: PER_SECOND },
      trustedProxies: ['127.0.0.1'],
    });
  });
  after(() => world.stop());

  it('of one person are limited over all sessions; one more answers 429 with Retry-After, and others are not concerned', async () => {
    const person = await signedIn(world);
    const other = await signedIn(world, { organizationId: person.organizationId });
    for (let count = 0; count < BURST; count++) assert.equal((await person.call('GET', '/session')).status, 200);
    const refused = await person.call('GET', '/session');
    assert.equal(refused.status, 429);
    assert.equal(refused.body.error.code, 'too_many_requests');
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    // Another cookie beside it makes it look like another session.
    const disguised = await person.call('GET', '/session', undefined, { cookie: `x=1; ${person.cookie()}` });
    assert.equal(disguised.status, 429);
    assert.equal((await other.call('GET', '/session')).status, 200);
  });

  it('without a session are limited by address, and people who are signed in are not concerned', async () => {
    const person = await signedIn(world);
    const anonymous = dashboardClient(world);
    const statuses: number[] = [];
    for (let count = 0; count <= BURST; count++) statuses.push((await anonymous.call('GET', '/session')).status);
    assert.equal(statuses.at(-1), 429);
    assert.ok(statuses.slice(0, -1).every((status) => status === 401 || status === 429));
    assert.equal((await anonymous.call('POST', '/session', { email: 'a@b.ch', password: 'x' })).status, 429);
    assert.equal((await person.call('GET', '/session')).status, 200);
  });

  it('without a session from the addresses of one IPv6 network are limited together', async () => {
    const statusFrom = async (address: string) =>
      (await dashboardClient(world).call('GET', '/session', undefined, { 'x-forwarded-for': address })).status;
    for (let host = 1; host <= BURST; host++) assert.equal(await statusFrom(`2001:db8:1:2::${host}`), 401);
    assert.equal(await statusFrom('2001:db8:1:2::ffff'), 429);
    assert.equal(await statusFrom('2001:db8:1:3::1'), 401);
  });
});
