import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { holdLock, untilBlocked } from '../../../../../test/harness/database/locks.ts';
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

  it('has no use of a reset link from before the person changed the password', async () => {
    const owner = await signedIn(world);
    const colleague = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    const resetLink = async (userId: string) =>
      tokenOf((await owner.call('POST', `/team/${userId}/reset-link`)).body.url);
    const [older, ofOwner] = [await resetLink(colleague.userId), await resetLink(owner.userId)];
    const changed = 'the password of their choice';
    const change = { current_password: TEST_PASSWORD, new_password: changed };
    assert.equal((await colleague.call('POST', '/account/password', change)).status, 204);
    const client = dashboardClient(world);
    assert.equal((await client.call('POST', '/links/look-up', { token: older })).status, 404);
    assert.equal(
      (await client.call('POST', '/links/reset', { token: older, password: 'quite another one' })).status,
      404,
    );
    assert.equal((await colleague.call('GET', '/session')).status, 200);
    assert.equal((await dashboardClient(world).signIn(colleague.email, changed)).status, 200);
    for (const token of [ofOwner, await resetLink(colleague.userId)]) {
      assert.equal(
        (await client.call('POST', '/links/look-up', { token })).status,
        200,
        'others’ and later ones are valid',
      );
    }
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

  /** Another owner, who keeps the links that they have made: an invitation of an owner, and a reset of the first owner. */
  async function makerOfLinks(owner: Awaited<ReturnType<typeof signedIn>>) {
    const maker = await signedIn(world, { organizationId: owner.organizationId });
    const email = `${maker.userId}@friend.example`;
    const tokens: string[] = [];
    for (const made of [
      await maker.call('POST', '/team/invitations', { email, role: 'owner' }),
      await maker.call('POST', `/team/${owner.userId}/reset-link`),
    ]) {
      assert.equal(made.status, 200, made.text);
      tokens.push(tokenOf(made.body.url));
    }
    return { maker, tokens };
  }
  const lookUps = async (tokens: string[]) => {
    const answers = tokens.map((token) => dashboardClient(world).call('POST', '/links/look-up', { token }));
    return (await Promise.all(answers)).map(({ status }) => status);
  };

  it('has no use of the links of an owner who has been demoted or removed, and has those of the others', async () => {
    const owner = await signedIn(world);
    const colleague = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    const demoted = await makerOfLinks(owner);
    const invite = { email: `${owner.userId}@new.example`, role: 'staff' };
    const own = [
      tokenOf((await owner.call('POST', '/team/invitations', invite)).body.url),
      tokenOf((await owner.call('POST', `/team/${colleague.userId}/reset-link`)).body.url),
    ];
    assert.deepEqual(await lookUps(demoted.tokens), [200, 200]);
    assert.equal((await owner.call('PATCH', `/team/${demoted.maker.userId}`, { role: 'staff' })).status, 200);
    assert.deepEqual(await lookUps(demoted.tokens), [404, 404]);
    const [, token] = demoted.tokens;
    const password = 'the choice of a thief';
    assert.equal((await dashboardClient(world).call('POST', '/links/reset', { token, password })).status, 404);
    assert.equal((await owner.call('GET', '/team')).body.invitations.length, 1);

    const removed = await makerOfLinks(owner);
    assert.equal((await owner.call('DELETE', `/team/${removed.maker.userId}`)).status, 204);
    assert.deepEqual(await lookUps(removed.tokens), [404, 404]);
    assert.deepEqual(await lookUps(own), [200, 200]);
  });

  it('has no link that an owner makes while they are demoted', async () => {
    const owner = await signedIn(world);
    const maker = await signedIn(world, { organizationId: owner.organizationId });
    const makes = [
      () => maker.call('POST', '/team/invitations', { email: 'friend@dealer.example', role: 'owner' }),
      () => maker.call('POST', `/team/${owner.userId}/reset-link`),
    ];
    for (const make of makes) {
      await world.db.query(sql`update users set role = 'owner' where id = ${maker.userId}`);
      const demotion = await holdLock(world.db, `update users set role = 'staff' where id = $1`, [maker.userId]);
      const made = make();
      await untilBlocked(world.db);
      await demotion.release();
      assert.deepEqual([(await made).status, (await made).body.error?.code], [403, 'not_allowed'], (await made).text);
    }
    assert.deepEqual((await owner.call('GET', '/team')).body.invitations, []);
  });

  it('is changed by nobody who is removed or demoted meanwhile', async () => {
    const owner = await signedIn(world);
    const friend = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    const ends = [
      (id: string) => holdLock(world.db, `update users set role = 'staff' where id = $1`, [id]),
      (id: string) => holdLock(world.db, 'delete from users where id = $1', [id]),
    ];
    for (const end of ends) {
      for (const [method, body] of [['PATCH', { role: 'owner' }], ['DELETE']] as const) {
        const maker = await signedIn(world, { organizationId: owner.organizationId });
        const ended = await end(maker.userId);
        const changed = maker.call(method, `/team/${friend.userId}`, body);
        await untilBlocked(world.db);
        await ended.release();
        const { status, text } = await changed;
        assert.equal(status, 403, text);
      }
    }
    const roles = await world.db.query(sql`select role from users where id = ${friend.userId}`);
    assert.deepEqual(roles, [{ role: 'staff' }]);
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
