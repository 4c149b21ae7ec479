import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { commandLine, settingsFor } from '../../test/harness/command-line.ts';
import { type DashboardClient, dashboardClient, signedIn } from '../../test/harness/http/dashboard-client.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { COMMAND_LINE } from '../audit/actor.ts';
import type { Config } from '../config.ts';
import { sql } from '../db/sql.ts';
import { findLink, inviteMember, makeResetLink } from '../dealers/users/invitations-and-resets.ts';
import { ATTEMPTS_PER_ACCOUNT } from '../dealers/users/sign-in-attempts.ts';
import { isMailConfirmed } from '../notifications/mail-confirmation.ts';
import { changeMailKinds } from '../notifications/mail-subscriptions.ts';

describe('the commands for users', () => {
  let world: World;
  let settings: Config;
  let client: DashboardClient;
  const email = 'dana@example.com';
  let password: string;
  const { run, json, refusal } = commandLine(() => settings);

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

  it('list the users of a dealer, page by page', async () => {
    const { data: organizations } = await json('organization', 'list');
    const organization = ['--organization', organizations[0].id];
    const first = await json('user', 'list', ...organization, '--limit', '1');
    const [ann] = first.data;
    assert.equal(first.has_more, true);
    assert.partialDeepStrictEqual(ann, { object: 'user', organization_id: organization[1], role: 'owner' });
    assert.deepEqual([ann.name, ann.email, ann.last_seen_at], ['Ann', 'ann@example.com', null]);
    const { data, has_more: hasMore } = await json('user', 'list', ...organization, '--after', ann.id);
    assert.deepEqual([data.length, data[0].email, data[0].role, hasMore], [1, email, 'staff', false]);
    assert.match(
      (await run('user', 'list', ...organization)).out,
      /^ID +ROLE .*\nusr_.* owner +– +ann@example\.com +Ann\n/,
    );
    assert.match(await refusal('user', 'list', '--organization', 'org_none'), /no organization/);
  });

  it('give somebody another address: the old one is free, no open link works, and mail waits until it is confirmed', async () => {
    const somebody = await signedIn(world);
    const person = { organizationId: somebody.organizationId, userId: somebody.userId };
    await world.db.query(sql`update users set mail_confirmed_at = now() where id = ${person.userId}`);
    await changeMailKinds(world.db, COMMAND_LINE, person, ['orders'], null);
    await world.db.query(sql`
      insert into mails (id, organization_id, user_id, counts, due_at, created_at)
      values ('mail_waiting', ${person.organizationId}, ${person.userId}, '{"orders": 1}', now(), now())`);
    const link = await makeResetLink(world.db, COMMAND_LINE, person);

    const changed = await json('user', 'email', somebody.email, ' New@Lindqvist.example ');
    assert.deepEqual(changed, {
      object: 'user',
      id: person.userId,
      organization_id: person.organizationId,
      email: 'new@lindqvist.example',
    });
    assert.equal((await somebody.call('GET', '/session')).body.user.email, 'new@lindqvist.example');
    await assert.rejects(findLink(world.db, link.token), { code: 'not_found' });
    assert.equal(await isMailConfirmed(world.db, person), false);
    const mails = await world.db.query(sql`
      select is_confirmation as "isConfirmation" from mails where user_id = ${person.userId} and status = 'pending'`);
    assert.deepEqual(mails, [{ isConfirmation: true }], 'only the code for the new address waits');
    const [entry] = await world.db.query(sql`
      select actor_kind as actor, personal_fields as personal from audit_log
      where object_id = ${person.userId} and action = 'user.account_changed' order by at desc, id desc limit 1`);
    assert.deepEqual(entry, { actor: 'command_line', personal: ['email'] });

    assert.match(await refusal('user', 'email', somebody.email, 'x@example.com'), /no user with the email/);
    assert.match(await refusal('user', 'email', 'new@lindqvist.example', email), /a user with the email .* already/);
    assert.match(await refusal('user', 'email', 'new@lindqvist.example', 'no address'), /not an email address/);
    assert.match(await refusal('user', 'email', email, email), /has the email .* already/);
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
