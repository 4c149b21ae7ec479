import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { holdLock, until, untilBlocked } from '../../../../../test/harness/database/locks.ts';
import { type DashboardClient, dashboardClient, signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { TEST_PASSWORD } from '../../../../../test/harness/passwords.ts';
import { PUBLIC_URL, startWorld, type World } from '../../../../../test/harness/world.ts';
import { sql } from '../../../../db/sql.ts';
import { ATTEMPTS_PER_ACCOUNT, unlockAccount } from '../../../../dealers/users/sign-in-attempts.ts';

/** The cookie by which a browser is known for an account, as "name=value". */
function deviceCookie(client: DashboardClient): string {
  return client
    .cookie()
    .split('; ')
    .find((cookie) => cookie.includes('.device_')) as string;
}

/** Of a password that nobody in these tests types. */
const OTHER_PASSWORD_HASH = `${'0'.repeat(32)}:${'0'.repeat(128)}`;

function credentialsOf(email: string) {
  return { email, password: TEST_PASSWORD };
}

describe('a session of the dashboard', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('starts with the right password, in a cookie that scripts and other sites do not get', async () => {
    const person = await signedIn(world);
    const client = dashboardClient(world);
    const answer = await client.signIn(person.email.toUpperCase());
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.user.id, person.userId);
    assert.equal(answer.body.user.role, 'owner');
    assert.equal(answer.body.organization.id, person.organizationId);
    const cookies = answer.headers.getSetCookie();
    assert.deepEqual(
      cookies.map((cookie) => cookie.replace(/^__Secure-crownwheel\.(device|session).*$/, '$1')),
      ['device', 'session'],
    );
    for (const cookie of cookies)
      for (const attribute of [/; HttpOnly/i, /; SameSite=Lax/i, /; Secure/i, /; Path=\//i])
        assert.match(cookie, attribute);
    assert.equal((await client.call('GET', '/session')).body.user.email, person.email);
  });

  it('is needed for everything but the public operations: 401 without a cookie', async () => {
    const answer = await dashboardClient(world).call('GET', '/session');
    assert.equal(answer.status, 401);
    assert.equal(answer.body.error.code, 'unauthenticated');
    assert.equal(answer.body.error.request_id, answer.headers.get('x-request-id'));
  });

  it('ends with signing out, on the server, too', async () => {
    const person = await signedIn(world);
    const cookie = person.cookie();
    assert.equal((await person.call('DELETE', '/session')).status, 204);
    assert.equal((await dashboardClient(world).call('GET', '/session', undefined, { cookie })).status, 401);
  });

  /** What a change and a reset of the password do, in a transaction that is open until it is let go. */
  const changingPassword = (userId: string) =>
    holdLock(
      world.db,
      `with changed as (update accounts set password = $2 where user_id = $1 returning user_id)
       delete from sessions where user_id in (select user_id from changed)`,
      [userId, OTHER_PASSWORD_HASH],
    );
  const sessionsOf = (userId: string) => world.db.query(sql`select id from sessions where user_id = ${userId}`);

  it('does not start with a password that is changed while it is verified, before the session is stored', async () => {
    const person = await signedIn(world);
    await world.db.query(sql`delete from sessions where user_id = ${person.userId}`);
    const lock = await holdLock(world.db, 'lock table sessions in share row exclusive mode', []);
    const client = dashboardClient(world);
    const answer = client.signIn(person.email);
    await untilBlocked(world.db);
    await world.db.query(sql`update accounts set password = ${OTHER_PASSWORD_HASH} where user_id = ${person.userId}`);
    await lock.release();
    assert.equal((await answer).status, 401);
    assert.equal((await answer).body.error.code, 'wrong_credentials');
    assert.deepEqual((await answer).headers.getSetCookie(), []);
    assert.deepEqual(await sessionsOf(person.userId), []);
  });

  it('does not start with a password whose change has ended the sessions, and commits after this one is stored', async () => {
    const person = await signedIn(world);
    const change = await changingPassword(person.userId);
    const client = dashboardClient(world);
    const answer = client.signIn(person.email);
    // The change is not committed, so the session from before is still seen.
    await until(async () => (await sessionsOf(person.userId)).length === 2, 'no session was stored');
    await change.release();
    assert.equal((await answer).status, 401);
    assert.deepEqual(await sessionsOf(person.userId), []);
  });

  it('that a reset ends changes no password, not with the old one that was verified before', async () => {
    const person = await signedIn(world);
    const reset = await changingPassword(person.userId);
    const change = { current_password: TEST_PASSWORD, new_password: 'the choice of a thief' };
    const answer = person.call('POST', '/account/password', change);
    await untilBlocked(world.db);
    await reset.release();
    assert.equal((await answer).status, 400, (await answer).text);
    assert.equal((await answer).body.error.field, 'current_password');
    const [account] = await world.db.query<{ password: string }>(sql`
      select password from accounts where user_id = ${person.userId}`);
    assert.equal(account?.password, OTHER_PASSWORD_HASH);
  });

  it('that is in use is prolonged every ten minutes, and ends by itself at its time', async () => {
    const person = await signedIn(world);
    const isPerson = sql`user_id = ${person.userId}`;
    const ask = () => person.call('GET', '/session');
    const lifetime = async () => {
      const [row] = await world.db.query<{ seconds: number }>(sql`
        select extract(epoch from expires_at - now())::integer as seconds from sessions where ${isPerson}`);
      return row?.seconds ?? 0;
    };
    assert.equal((await ask()).headers.getSetCookie().length, 0);
    const full = await lifetime();
    await world.db.query(sql`update sessions set expires_at = expires_at - interval '9 minutes' where ${isPerson}`);
    assert.equal((await ask()).headers.getSetCookie().length, 0);
    assert.ok((await lifetime()) <= full - 9 * 60);
    await world.db.query(sql`update sessions set expires_at = expires_at - interval '1 minute' where ${isPerson}`);
    assert.equal((await ask()).headers.getSetCookie().length, 1);
    assert.ok((await lifetime()) > full - 60);
    await world.db.query(sql`update sessions set expires_at = now() where ${isPerson}`);
    assert.equal((await ask()).status, 401);
  });

  it('is not begun by a cookie whose signature is wrong, also if its token is in use', async () => {
    const person = await signedIn(world);
    assert.equal((await person.call('GET', '/session')).status, 200);
    const cookie = person.cookie().replace(/\.[^.]*$/, '.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%3D');
    assert.notEqual(cookie, person.cookie());
    assert.equal((await dashboardClient(world).call('GET', '/session', undefined, { cookie })).status, 401);
  });

  it('answers a wrong password, an unknown account and no email at all alike', async () => {
    const person = await signedIn(world);
    for (const [email, password] of [
      [person.email, 'not the password'],
      ['nobody@dealer.example', TEST_PASSWORD],
      ['nonsense', 'x'],
    ] as const) {
      const answer = await dashboardClient(world).signIn(email, password);
      assert.equal(answer.status, 401, answer.text);
      assert.equal(answer.body.error.code, 'wrong_credentials');
      assert.equal(answer.headers.getSetCookie().length, 0);
    }
  });

  it('can’t be guessed: after ten attempts an account waits, whoever asks, until an operator unlocks it', async () => {
    const person = await signedIn(world);
    const client = dashboardClient(world);
    // All at once: each counts before its password is looked at.
    const answers = await Promise.all(
      Array.from({ length: ATTEMPTS_PER_ACCOUNT + 5 }, () => client.signIn(person.email, 'not the password')),
    );
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(refused.length, 5);
    assert.ok(Number(refused[0]?.headers.get('retry-after')) > 60);
    assert.equal((await client.signIn(person.email)).status, 429, 'the right password waits, too');
    assert.equal(await unlockAccount(world.db, person.email), true);
    assert.equal((await client.signIn(person.email)).status, 200);
    await world.db.query(sql`delete from sign_in_attempts`);
  });

  /** A stranger's wrong passwords, one more than an account has. */
  async function lockOut(email: string): Promise<DashboardClient> {
    const stranger = dashboardClient(world);
    const attempts = Array.from({ length: ATTEMPTS_PER_ACCOUNT + 1 }, () => stranger.signIn(email, 'not the password'));
    assert.ok((await Promise.all(attempts)).some(({ status }) => status === 429));
    return stranger;
  }

  it('begins where its person has signed in before, whatever strangers try', async () => {
    const person = await signedIn(world);
    const stranger = await lockOut(person.email);
    assert.equal((await stranger.signIn(person.email)).status, 429);
    assert.equal((await person.call('DELETE', '/session')).status, 204);
    assert.equal((await person.signIn(person.email)).status, 200);
    assert.equal((await stranger.signIn(person.email)).status, 429, 'strangers still wait');
    await world.db.query(sql`delete from sign_in_attempts`);
  });

  it('can’t be guessed from there either: such a browser has ten attempts of its own, then those of strangers', async () => {
    const person = await signedIn(world);
    const attempt = (count: number) =>
      Promise.all(Array.from({ length: count }, () => person.signIn(person.email, 'not the password')));
    const answers = await attempt(2 * ATTEMPTS_PER_ACCOUNT + 5);
    assert.equal(answers.filter(({ status }) => status === 401).length, 2 * ATTEMPTS_PER_ACCOUNT);
    assert.equal((await person.signIn(person.email)).status, 429);
    await unlockAccount(world.db, person.email);
    assert.equal((await person.signIn(person.email)).status, 200);
    await world.db.query(sql`delete from sign_in_attempts`);
  });

  it('takes a browser for known only by the cookie that was set for this account', async () => {
    const [person, other] = [await signedIn(world), await signedIn(world)];
    await lockOut(person.email);
    const [name = '', value = ''] = deviceCookie(person).split('=');
    const [device, signature = ''] = value.split('.');
    const forged = [
      `${name}=${deviceCookie(other).split('=')[1]}`,
      `${name}=${device}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
      `${name}=${device}`,
      `${name}=`,
      deviceCookie(other),
    ];
    for (const cookie of forged) {
      const answer = await dashboardClient(world).call('POST', '/session', credentialsOf(person.email), { cookie });
      assert.equal(answer.status, 429, cookie);
    }
    const known = { cookie: `theme=dark; ${deviceCookie(person)}` };
    const answer = await dashboardClient(world).call('POST', '/session', credentialsOf(person.email), known);
    assert.equal(answer.status, 200, answer.text);
    assert.ok(answer.headers.getSetCookie()[0]?.startsWith(deviceCookie(person)), 'it stays the same browser');
    await world.db.query(sql`delete from sign_in_attempts`);
  });

  it('takes a browser for a stranger’s after the password has changed', async () => {
    const person = await signedIn(world);
    const known = { cookie: deviceCookie(person) };
    const password = 'another long password';
    const change = { current_password: TEST_PASSWORD, new_password: password };
    assert.equal((await person.call('POST', '/account/password', change)).status, 204);
    await lockOut(person.email);
    const answer = await dashboardClient(world).call('POST', '/session', { email: person.email, password }, known);
    assert.equal(answer.status, 429);
    await world.db.query(sql`delete from sign_in_attempts`);
  });

  it('lets its person change the password while strangers have locked the account', async () => {
    const person = await signedIn(world);
    await lockOut(person.email);
    const change = { current_password: TEST_PASSWORD, new_password: 'another long password' };
    assert.equal((await person.call('POST', '/account/password', change)).status, 204);
    await world.db.query(sql`delete from sign_in_attempts`);
  });

  it('begins with a reset link while strangers have locked the account', async () => {
    const owner = await signedIn(world);
    const colleague = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    await lockOut(colleague.email);
    const { body: link } = await owner.call('POST', `/team/${colleague.userId}/reset-link`);
    const reset = { token: new URL(link.url).hash.slice(1), password: 'quite another password' };
    const answer = await dashboardClient(world).call('POST', '/links/reset', reset);
    assert.equal(answer.status, 200, answer.text);
    await world.db.query(sql`delete from sign_in_attempts`);
  });

  it('refuses a request that changes something from anywhere but PUBLIC_URL', async () => {
    const person = await signedIn(world);
    for (const origin of ['https://evil.example', `${PUBLIC_URL}:4443`, 'null']) {
      const answer = await person.call('PATCH', '/account', { show_test_data: true }, { origin });
      assert.equal(answer.status, 403, origin);
      assert.equal(answer.body.error.code, 'wrong_origin');
    }
    const [row] = await world.db.query<{ shows: boolean }>(sql`
      select show_test_data as shows from users where id = ${person.userId}`);
    assert.equal(row?.shows, false);
  });

  it('ends elsewhere when the password changes, and stays here', async () => {
    const person = await signedIn(world);
    const elsewhere = dashboardClient(world);
    await elsewhere.signIn(person.email);
    const wrong = await person.call('POST', '/account/password', {
      current_password: 'not the password',
      new_password: 'another long password',
    });
    assert.equal(wrong.status, 400);
    assert.equal(wrong.body.error.field, 'current_password');
    const changed = await person.call('POST', '/account/password', {
      current_password: TEST_PASSWORD,
      new_password: 'another long password',
    });
    assert.equal(changed.status, 204, changed.text);
    assert.equal((await person.call('GET', '/session')).status, 200);
    assert.equal((await elsewhere.call('GET', '/session')).status, 401);
    assert.equal((await elsewhere.signIn(person.email, 'another long password')).status, 200);
  });

  it('is listed with the others of its person, who ends them one by one or all', async () => {
    const person = await signedIn(world);
    const others = [dashboardClient(world), dashboardClient(world)];
    for (const other of others) await other.signIn(person.email);
    const { data } = (await person.call('GET', '/account/sessions')).body;
    assert.equal(data.length, 3);
    const [first] = data.filter((session: { is_current: boolean }) => !session.is_current);
    const stranger = await signedIn(world);
    assert.equal((await stranger.call('DELETE', `/account/sessions/${first.id}`)).status, 404);
    assert.equal((await person.call('DELETE', `/account/sessions/${first.id}`)).status, 204);
    assert.equal((await person.call('DELETE', '/account/sessions')).status, 204);
    for (const other of others) assert.equal((await other.call('GET', '/session')).status, 401);
    assert.equal((await person.call('GET', '/session')).status, 200);
  });

  it('keeps what a person chose: their name, and whether lists show test data', async () => {
    const person = await signedIn(world);
    const answer = await person.call('PATCH', '/account', { name: ' Dana ', show_test_data: true });
    assert.equal(answer.body.user.name, 'Dana');
    assert.deepEqual((await person.call('GET', '/session')).body, answer.body);
  });

  it('begins for a new dealer by signing up, unless that is off', async (t) => {
    const input = {
      organization_name: 'New dealer',
      name: 'Ann',
      email: 'ann@new.example',
      password: 'a long new password',
      currency: 'CHF',
    };
    const client = dashboardClient(world);
    const short = await client.call('POST', '/sign-up', { ...input, password: 'short' });
    assert.equal(short.status, 400);
    assert.equal(short.body.error.field, 'password');
    const unknown = await client.call('POST', '/sign-up', { ...input, currency: 'ZZZ' });
    assert.equal(unknown.status, 400);
    assert.equal(unknown.body.error.field, 'currency');
    const made = await client.call('POST', '/sign-up', input);
    assert.equal(made.status, 200, made.text);
    assert.equal(made.body.user.role, 'owner');
    assert.equal(made.body.organization.name, 'New dealer');
    assert.equal(made.body.organization.currency, 'CHF');
    const again = await client.call('POST', '/sign-up', input);
    assert.equal(again.status, 409);
    assert.equal(again.body.error.field, 'email');

    const closed = await startWorld({ dashboard: { isSignUpOpen: false } });
    t.after(() => closed.stop());
    const refused = await dashboardClient(closed).call('POST', '/sign-up', input);
    assert.equal(refused.body.error.code, 'sign_up_off');
  });
});

describe('a session on this machine', () => {
  it('takes localhost and 127.0.0.1 alike, and needs no https for its cookie', async (t) => {
    const world = await startWorld({ publicUrl: 'http://localhost:4000' });
    t.after(() => world.stop());
    const person = await signedIn(world);
    for (const origin of ['http://localhost:4000', 'http://127.0.0.1:4000']) {
      const answer = await dashboardClient(world, origin).signIn(person.email);
      assert.equal(answer.status, 200, origin);
      assert.doesNotMatch(answer.headers.getSetCookie()[0] ?? '', /; Secure/i);
    }
    assert.equal((await dashboardClient(world, 'http://localhost:4001').signIn(person.email)).status, 403);
  });
});
