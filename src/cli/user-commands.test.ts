import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { commandLine, settingsFor } from '../../test/harness/command-line.ts';
import { type DashboardClient, dashboardClient } from '../../test/harness/http/dashboard-client.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { COMMAND_LINE } from '../audit/actor.ts';
import type { Config } from '../config.ts';
import { inviteMember } from '../dealers/users/invitations-and-resets.ts';
import { ATTEMPTS_PER_ACCOUNT } from '../dealers/users/sign-in-attempts.ts';

describe('the commands for users', () => {
  let world: World;
  let settings: Config;
  let client: DashboardClient;
  const email = 'dana@example.com';
  let password: string;
  const { json, refusal } = commandLine(() => settings);

  before(async () => {
    world = await startWorld();
    settings = settingsFor(world);
    client = dashboardClient(world);
    const { id } = await json('organization', 'create', '--name', 'Lindqvist');
    await json('user', 'create', '--organization', id, '--name', 'Ann', '--email', 'ann@example.com');
    const made = await json(
      'user',
      'create',
      '--organization',
      id,
      '--name',
      'Dana',
      '--email',
      email,
      '--role',
      'staff',
    );
    password = made.password;
  });
  after(() => world.stop());

  it('make a user with a role, and change it from the next request on', async () => {
    assert.equal((await client.signIn(email, password)).body.user.role, 'staff');
    assert.equal((await json('user', 'role', email, 'owner')).role, 'owner');
    assert.equal((await client.call('GET', '/session')).body.user.role, 'owner');
    await json('user', 'role', email, 'staff');
    assert.match(await refusal('user', 'role', 'ann@example.com', 'staff'), /last owner/);
    assert.match(await refusal('user', 'role', 'nobody@example.com', 'staff'), /no user with the email/);
  });

  it('make a reset link that sets a new password', async () => {
    const { url } = await json('user', 'reset-link', email);
    assert.ok(url.startsWith(`${settings.publicUrl}/reset#`));
    password = 'another long password';
    const answer = await client.call('POST', '/links/reset', { token: new URL(url).hash.slice(1), password });
    assert.equal(answer.status, 200, answer.text);
  });

  it('unlock somebody who has to wait after too many wrong passwords', async () => {
    const elsewhere = dashboardClient(world);
    for (let attempt = 0; attempt <= ATTEMPTS_PER_ACCOUNT; attempt++) await elsewhere.signIn(email, 'not the password');
    assert.equal((await elsewhere.signIn(email, password)).status, 429);
    assert.equal((await json('user', 'unlock', email)).unlocked, true);
    assert.equal((await elsewhere.signIn(email, password)).status, 200);
  });

  it('remove somebody, whose address another dealer can then invite, but not the last owner', async () => {
    const [theirs, other] = [await world.dealer(), await world.dealer()];
    const claimed = 'claimed@elsewhere.example';
    const invite = { organizationId: other.organizationId, email: claimed, role: 'owner' as const };
    await json('user', 'create', '--organization', theirs.organizationId, '--name', 'Dana', '--email', claimed);
    await assert.rejects(inviteMember(world.db, COMMAND_LINE, invite), { code: 'email_taken' });
    assert.equal((await json('user', 'remove', claimed)).removed, true);
    await inviteMember(world.db, COMMAND_LINE, invite);
    assert.match(await refusal('user', 'remove', 'ann@example.com'), /last owner/);
  });
});
