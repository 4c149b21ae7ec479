import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type DashboardClient, dashboardClient, signedIn } from '../../test/harness/http/dashboard-client.ts';
import { type SmtpServer, startSmtpServer } from '../../test/harness/servers/smtp.ts';
import { addShop } from '../../test/harness/shop.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { MAILS_PER_DAY_LIMIT } from '../contract/dashboard/limits.ts';
import { sql } from '../db/sql.ts';
import { pruneMailLimits } from './mail-limits.ts';
import { createMailSenders } from './mail-worker.ts';
import { createMailer } from './smtp.ts';

const HOUR_MS = 3_600_000;

describe('a limit of mail', () => {
  let world: World;
  let server: SmtpServer;
  before(async () => {
    world = await startWorld();
    server = await startSmtpServer();
  });
  after(async () => {
    await world?.stop();
    await server?.stop();
  });
  beforeEach(() => {
    server.mails.length = 0;
  });

  async function runWorker(now: Date | null = null) {
    const senders = createMailSenders({
      db: world.db,
      mailer: createMailer({ url: server.url, from: 'alerts@crownwheel.test' }),
      publicUrl: 'https://crownwheel.test',
      secretKey: 'a secret key of this test, which is long enough',
      now: () => now,
      onFault: assert.ifError,
      onGivenUp: assert.ifError,
    });
    await senders.startRound();
    await senders.settled();
  }
  async function chooseMail(client: DashboardClient): Promise<void> {
    const answer = await client.call('PUT', '/account/mail', { kinds: ['orders'] });
    assert.equal(answer.status, 200, answer.text);
  }
  async function join(owner: DashboardClient, email: string): Promise<DashboardClient & { userId: string }> {
    const { body: link } = await owner.call('POST', '/team/invitations', { email, role: 'staff' });
    const member = dashboardClient(world);
    const input = { token: new URL(link.url).hash.slice(1), name: 'Stranger', password: 'a long new password' };
    const answer = await member.call('POST', '/links/accept', input);
    assert.equal(answer.status, 200, answer.text);
    return { ...member, userId: answer.body.user.id };
  }
  async function leave(owner: DashboardClient, userId: string): Promise<void> {
    const answer = await owner.call('DELETE', `/team/${userId}`);
    assert.equal(answer.status, 204, answer.text);
  }

  it('lets an address have one code a day, however often it is removed and invited, and by whichever dealer', async () => {
    const email = 'stranger@elsewhere.example';
    const owners = [await signedIn(world), await signedIn(world)];
    for (const owner of [...owners, ...owners]) {
      const member = await join(owner, email);
      await chooseMail(member);
      await runWorker();
      await leave(owner, member.userId);
    }
    assert.deepEqual(
      server.mails.map(({ to }) => to),
      [[email]],
    );
    // As if a day had passed since.
    await world.db.query(sql`update mail_codes set mailed_at = mailed_at - interval '24 hours'`);
    const member = await join(owners[0] ?? assert.fail(), email);
    await Promise.all([chooseMail(member), chooseMail(member)]);
    await runWorker();
    assert.equal(server.mails.length, 2);
    await chooseMail(await signedIn(world));
    await runWorker();
    assert.equal(server.mails.length, 3, 'another address is not concerned');
  });

  it('keeps no address, and nothing for longer than it is needed', async () => {
    const person = await signedIn(world);
    await chooseMail(person);
    await runWorker();
    const rows = await world.db.query<{ text: string }>(sql`select c::text as text from mail_codes c`);
    assert.ok(rows.length > 0);
    assert.doesNotMatch(JSON.stringify(rows), /example/);
    const left = () => world.db.query(sql`select mailed_at from mail_codes union all select hour from mail_counts`);
    await pruneMailLimits(world.db, new Date(Date.now() + 26 * HOUR_MS));
    assert.notDeepEqual(await left(), []);
    await pruneMailLimits(world.db, new Date(Date.now() + 50 * HOUR_MS));
    assert.deepEqual(await left(), []);
  });

  it('of a dealer counts the mails of people who have left', async () => {
    const person = await signedIn(world);
    const colleague = await signedIn(world, { organizationId: person.organizationId });
    await world.db.query(sql`
      update users set mail_confirmed_at = now() where organization_id = ${person.organizationId}`);
    await world.db.query(sql`
      insert into mails (id, organization_id, user_id, counts, due_at, created_at, status, finished_at)
      select 'mai_' || i, ${person.organizationId}, ${colleague.userId}, '{"orders": 1}', now(), now(), 'sent', now()
      from generate_series(1, ${MAILS_PER_DAY_LIMIT}) i`);
    await leave(person, colleague.userId);
    const shop = await addShop(world, person);
    await chooseMail(person);
    assert.equal((await shop.post('/v1/orders', { channel_order_id: 'SO-1' })).status, 201);
    await runWorker();
    await chooseMail(await signedIn(world, { organizationId: person.organizationId }));
    await runWorker();
    assert.equal(server.mails.length, 0);
    await runWorker(new Date(Date.now() + 25 * HOUR_MS));
    assert.equal(server.mails.length, 1);
  });
});
