import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { dashboardClient, signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { TEST_PASSWORD } from '../../../../../test/harness/passwords.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { sql } from '../../../../db/sql.ts';

describe('the team of a dealer', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const tokenOf = (url: string) => new URL(url).hash.slice(1);

  it('grows by an invitation that works once, and is kept as a hash', async () => {
    const owner = await signedIn(world);
    const { body: link } = await owner.call('POST', '/team/invitations', {
      email: 'new@dealer.example',
      role: 'staff',
    });
    const token = tokenOf(link.url);
    const [row] = await world.db.query<{ text: string }>(sql`select l::text as text from sign_in_links l`);
    assert.ok(row !== undefined && !row.text.includes(token));

    const guest = dashboardClient(world);
    const found = await guest.call('POST', '/links/look-up', { token });
    assert.equal(found.body.kind, 'invitation');
    assert.equal(found.body.email, 'new@dealer.example');
    const input = { token, name: 'Newcomer', password: 'a long new password' };
    const answers = await Promise.all([
      guest.call('POST', '/links/accept', input),
      guest.call('POST', '/links/accept', input),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
    const { members, invitations } = (await owner.call('GET', '/team')).body;
    assert.equal(members.find((member: { name: string }) => member.name === 'Newcomer').role, 'staff');
    assert.deepEqual(invitations, []);
  });

  it('refuses an invitation that was withdrawn, replaced or has expired', async () => {
    const owner = await signedIn(world);
    const invite = async () =>
      tokenOf(
        (await owner.call('POST', '/team/invitations', { email: 'late@dealer.example', role: 'owner' })).body.url,
      );
    const replaced = await invite();
    const withdrawn = await invite();
    const { invitations } = (await owner.call('GET', '/team')).body;
    assert.equal(invitations.length, 1);
    await owner.call('DELETE', `/team/invitations/${invitations[0].id}`);
    const expired = await invite();
    await world.db.query(sql`update sign_in_links set expires_at = now() - interval '1 second'`);
    for (const token of [replaced, withdrawn, expired, 'nonsense']) {
      const answer = await dashboardClient(world).call('POST', '/links/look-up', { token });
      assert.equal(answer.status, 404);
      assert.match(answer.body.error.message, /Ask for a new one/);
    }
  });

  it('resets a password by a link that ends all sessions and unlocks nothing else', async () => {
    const owner = await signedIn(world);
    const colleague = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    const { body: link } = await owner.call('POST', `/team/${colleague.userId}/reset-link`);
    const client = dashboardClient(world);
    const password = 'quite another password';
    const answer = await client.call('POST', '/links/reset', { token: tokenOf(link.url), password });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.user.id, colleague.userId);
    assert.equal((await colleague.call('GET', '/session')).status, 401);
    assert.equal((await colleague.signIn(colleague.email, TEST_PASSWORD)).status, 401);
    assert.equal((await colleague.signIn(colleague.email, password)).status, 200);
  });

  it('keeps owners’ matters from staff with a sentence, from the next request after a change of role', async () => {
    const owner = await signedIn(world);
    const colleague = await signedIn(world, { organizationId: owner.organizationId, role: 'owner' });
    assert.equal((await owner.call('PATCH', `/team/${colleague.userId}`, { role: 'staff' })).body.role, 'staff');
    const refused = await colleague.call('PATCH', `/team/${owner.userId}`, { role: 'staff' });
    assert.equal(refused.status, 403);
    assert.equal(refused.body.error.code, 'owner_only');
    assert.match(refused.body.error.message, /owners/);
    assert.equal((await colleague.call('GET', '/team')).status, 200);
  });

  it('always has an owner, also when two demote or remove each other at once', async () => {
    const one = await signedIn(world);
    // Of the dealer's own test user, so that two owners are left.
    await world.db.query(sql`
      delete from users where organization_id = ${one.organizationId} and id <> ${one.userId}`);
    const last = await one.call('PATCH', `/team/${one.userId}`, { role: 'staff' });
    assert.equal(last.status, 409);
    assert.equal(last.body.error.code, 'last_owner');
    const other = await signedIn(world, { organizationId: one.organizationId });
    await Promise.all([
      one.call('PATCH', `/team/${other.userId}`, { role: 'staff' }),
      other.call('DELETE', `/team/${one.userId}`),
    ]);
    const [count] = await world.db.query<{ owners: number }>(sql`
      select count(*) as owners from users where organization_id = ${one.organizationId} and role = 'owner'`);
    assert.equal(count?.owners, 1);
  });

  it('loses somebody’s sessions with the person', async () => {
    const owner = await signedIn(world);
    const colleague = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    assert.equal((await owner.call('DELETE', `/team/${colleague.userId}`)).status, 204);
    assert.equal((await colleague.call('GET', '/session')).status, 401);
  });
});
