import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { until } from '../../test/harness/database/locks.ts';
import { signedIn } from '../../test/harness/http/dashboard-client.ts';
import { type SmtpServer, startSmtpServer } from '../../test/harness/servers/smtp.ts';
import { addShop, type Shop } from '../../test/harness/shop.ts';
import { connectReceiver, ping, startTestWorker } from '../../test/harness/webhooks/webhook-world.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { MAILS_PER_DAY_LIMIT } from '../contract/dashboard/limits.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { dismissOrder } from '../sales/orders/order-operations.ts';
import { pruneMails } from './mail-queue.ts';
import { createMailSenders, type MailWorkerOptions } from './mail-worker.ts';
import { createMailer } from './smtp.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const SECRET_KEY = 'a secret key of this test, which is long enough';

/** Long lines are cut by an equals sign at their end, and an equals sign is written as =3D. */
function withoutSoftBreaks(data: string): string {
  return data.replaceAll('=\n', '').replaceAll('=3D', '=');
}

describe('mail about what needs attention', () => {
  let world: World;
  let server: SmtpServer;
  let person: Awaited<ReturnType<typeof signedIn>>;
  let shop: Shop;
  let givenUp: { id: string; attempts: number; error: string }[] = [];
  let orders = 0;
  before(async () => {
    world = await startWorld({ secretKeys: ['a newer key, of at least 32 characters', SECRET_KEY] });
    server = await startSmtpServer();
  });
  after(async () => {
    await world?.stop();
    await server?.stop();
  });
  beforeEach(async () => {
    world.setTime(null);
    server.behave('accept');
    server.mails.length = 0;
    givenUp = [];
    await world.db.query(sql`delete from mails`);
    await world.db.query(sql`delete from mail_subscriptions`);
    person = await signedIn(world);
    await confirm(person);
    shop = await addShop(world, person);
  });

  async function choose(...kinds: string[]) {
    const answer = await person.call('PUT', '/account/mail', { kinds });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, { is_available: true, is_confirmed: true, kinds });
  }
  /** As if they had entered their code. */
  const confirm = ({ userId }: { userId: string }) =>
    world.db.query(sql`update users set mail_confirmed_at = now() where id = ${userId}`);
  async function order(): Promise<string> {
    orders += 1;
    const customer = { email: `buyer${orders}@person.example`, first_name: 'Ada' };
    return (await shop.post('/v1/orders', { channel_order_id: `SO-${orders}`, customer })).body.id;
  }
  /** What the worker does each time, so many minutes from now. */
  async function runWorker(minutes = 0, stepMs = 5_000) {
    const now = minutes === 0 ? null : new Date(Date.now() + minutes * MINUTE_MS);
    const senders = startSenders({ now: () => now }, stepMs);
    await senders.startRound();
    await senders.settled();
  }
  function startSenders(options: Partial<MailWorkerOptions> = {}, stepMs = 5_000) {
    return createMailSenders({
      db: world.db,
      mailer: createMailer(
        { url: server.url, from: 'Crownwheel <alerts@crownwheel.test>' },
        { stepMs, attemptMs: 4 * stepMs },
      ),
      publicUrl: 'https://crownwheel.test',
      secretKey: SECRET_KEY,
      now: () => null,
      onFault: assert.ifError,
      onGivenUp: (mail) => givenUp.push(mail),
      ...options,
    });
  }
  /** The database, but the count of a dealer's new orders comes after this. */
  const countingAfter = (organizationId: string, before: () => Promise<void>): Database => ({
    ...world.db,
    async query(statement, limits) {
      const isCount = statement.text.includes("status = 'received'") && statement.values.includes(organizationId);
      if (isCount) await before();
      return await world.db.query(statement, limits);
    },
  });
  const stored = () =>
    world.db.query<{ status: string; attempts: number; last_error: string | null }>(
      sql`select status, attempts, last_error from mails order by id`,
    );

  it('tells a person of new orders in one mail with a link, and nothing about the buyers', async () => {
    await order();
    await choose('orders');
    await runWorker();
    assert.equal(server.mails.length, 0, 'what happened before the choice is not mailed');
    await order();
    await order();
    await runWorker();
    const [mail] = server.mails;
    assert.equal(server.mails.length, 1);
    assert.deepEqual(mail?.to, [person.email]);
    assert.match(mail?.from ?? '', /alerts@crownwheel\.test/);
    assert.match(mail?.data ?? '', /Subject: .*2 new orders wait in the queue/);
    assert.match(mail?.data ?? '', /https:\/\/crownwheel\.test\/orders\n/);
    assert.doesNotMatch(mail?.data ?? '', /person\.example|Ada|SO-/);
    await runWorker();
    assert.equal(server.mails.length, 1, 'the same orders are not mailed twice');
  });

  it('goes to nobody before they have entered the code that was mailed to their address, once a day', async () => {
    const stranger = await signedIn(world, { organizationId: person.organizationId });
    const wish = async (kinds: string[]) => (await stranger.call('PUT', '/account/mail', { kinds })).body;
    assert.deepEqual(await wish(['orders']), { is_available: true, is_confirmed: false, kinds: ['orders'] });
    await wish([]);
    await wish(['orders']);
    await order();
    await runWorker();
    await runWorker(61);
    assert.equal(server.mails.length, 1);
    const [mail] = server.mails;
    assert.deepEqual(mail?.to, [stranger.email]);
    const [, code = ''] = /Subject: Your code is (\w+)/.exec(mail?.data ?? '') ?? [];
    assert.doesNotMatch(withoutSoftBreaks(mail?.data ?? ''), /orders/);
    const enter = (who: typeof stranger, entered: string) =>
      who.call('POST', '/account/mail/confirmation', { code: entered });
    const wrong = await enter(
      stranger,
      code.replace(/./, (first) => (first === '0' ? '1' : '0')),
    );
    assert.deepEqual([wrong.status, wrong.body.error.field], [400, 'code']);
    const other = await signedIn(world, { organizationId: person.organizationId });
    assert.equal((await enter(other, code)).status, 400);
    assert.equal((await enter(stranger, ` ${code.toUpperCase()} `)).body.is_confirmed, true);
    await runWorker(61);
    assert.equal(server.mails.length, 2);
    assert.match(server.mails[1]?.data ?? '', /1 new order waits/);
    assert.equal((await enter(stranger, code)).status, 200);
  });

  it('to an address that is not confirmed carries nothing that somebody has typed: it may be a stranger’s', async () => {
    const stranger = await signedIn(world);
    const typed = 'Your bank: your account is locked. https://evil.example/log-in';
    await world.db.query(sql`update organizations set name = ${typed} where id = ${stranger.organizationId}`);
    await world.db.query(sql`update users set name = ${typed} where id = ${stranger.userId}`);
    await addShop(world, stranger);
    assert.equal((await stranger.call('PUT', '/account/mail', { kinds: ['orders'] })).status, 200);
    await runWorker();
    assert.equal(server.mails.length, 1);
    const data = withoutSoftBreaks(server.mails[0]?.data ?? '');
    assert.match(data, /^This is Crownwheel, the service at https:\/\/crownwheel\.test\./m);
    assert.match(data, /^If it was not you, ignore this mail\./m);
    assert.doesNotMatch(data, /bank|evil|locked/);
    assert.deepEqual(
      [...new Set(data.match(/https?:\/\/[^\s/]+/g))],
      ['https://crownwheel.test.', 'https://crownwheel.test'],
    );
  });

  it('writes at most once an hour about a kind, and then about all that came meanwhile', async () => {
    await choose('orders', 'conflicts');
    await order();
    await runWorker();
    await order();
    await order();
    await runWorker(59);
    assert.equal(server.mails.length, 1);
    await runWorker(61);
    assert.equal(server.mails.length, 2);
    assert.match(server.mails[1]?.data ?? '', /2 new orders wait/);
  });

  it('comes no more often for a person who chooses a kind again and again', async () => {
    await choose('orders');
    await order();
    await runWorker();
    assert.equal(server.mails.length, 1);
    await choose();
    await choose('orders');
    await order();
    await runWorker(30);
    assert.equal(server.mails.length, 1);
    await runWorker(61);
    assert.equal(server.mails.length, 2);
  });

  it('has a limit for each dealer and day: what is new comes when it is past, and other dealers are not concerned', async () => {
    await choose('orders');
    await world.db.query(sql`
      insert into mails (id, organization_id, user_id, counts, due_at, created_at, status, finished_at)
      select 'mai_' || i, ${person.organizationId}, ${person.userId}, '{"conflicts": 1}', now(), now(), 'sent', now()
      from generate_series(1, ${MAILS_PER_DAY_LIMIT}) i`);
    await order();
    await runWorker();
    assert.equal(server.mails.length, 0);
    const other = await signedIn(world);
    await confirm(other);
    const otherShop = await addShop(world, other);
    assert.equal((await other.call('PUT', '/account/mail', { kinds: ['orders'] })).status, 200);
    assert.equal((await otherShop.post('/v1/orders', { channel_order_id: 'SO-other' })).status, 201);
    await runWorker(1);
    assert.deepEqual(
      server.mails.map(({ to }) => to),
      [[other.email]],
    );
    await runWorker(25 * 60);
    assert.equal(server.mails.length, 2);
  });

  it('is written for the other dealers if the counts of one fail, which is a fault in the log', async () => {
    const others = [await signedIn(world), await signedIn(world)];
    for (const other of others) {
      await confirm(other);
      const { post } = await addShop(world, other);
      assert.equal((await other.call('PUT', '/account/mail', { kinds: ['orders', 'conflicts'] })).status, 200);
      assert.equal((await post('/v1/orders', { channel_order_id: 'SO-other' })).status, 201);
    }
    await choose('orders');
    await order();
    const fault = new Error('canceling statement due to statement timeout');
    const faults: unknown[] = [];
    const senders = startSenders({
      db: countingAfter(person.organizationId, () => Promise.reject(fault)),
      onFault: (error) => faults.push(error),
    });
    await senders.startRound();
    await senders.settled();
    assert.deepEqual(faults, [fault]);
    const received = () => server.mails.flatMap(({ to }) => to).sort();
    assert.deepEqual(received(), others.map(({ email }) => email).sort());
    await runWorker();
    assert.deepEqual(
      received(),
      [person, ...others].map(({ email }) => email).sort(),
      'the next round makes up for it',
    );
  });

  it('that is due does not wait for the counts of what is new', async () => {
    const stranger = await signedIn(world);
    assert.equal((await stranger.call('PUT', '/account/mail', { kinds: ['orders'] })).status, 200);
    await choose('orders');
    await order();
    const counted = Promise.withResolvers<void>();
    const senders = startSenders({ db: countingAfter(person.organizationId, () => counted.promise) });
    const round = senders.startRound();
    await until(async () => server.mails.length === 1, 'the code waits for the counts').finally(counted.resolve);
    assert.deepEqual(server.mails[0]?.to, [stranger.email]);
    await round;
    await senders.settled();
    assert.deepEqual(server.mails[1]?.to, [person.email]);
  });

  it('does not tell of what was dealt with meanwhile, nor those who did not choose it', async () => {
    await choose('orders');
    await dismissOrder(world.channel, TESTER, person.organizationId, await order(), null);
    await runWorker();
    assert.equal(server.mails.length, 0);
    await choose();
    await order();
    await runWorker();
    assert.equal(server.mails.length, 0);
  });

  it('tells of conflicts, dead letters and webhooks that were switched off, each person of what they chose', async (t) => {
    const receiver = await connectReceiver(world, shop);
    const worker = startTestWorker(world);
    t.after(async () => {
      await receiver.stop();
      await worker.stop();
    });
    const colleague = await signedIn(world, { organizationId: person.organizationId, role: 'staff' });
    await confirm(colleague);
    await choose('conflicts', 'dead_letters', 'webhooks_off');
    assert.equal((await colleague.call('PUT', '/account/mail', { kinds: ['conflicts'] })).status, 200);

    await shop.post('/v1/customers', { email: 'one@person.example' });
    await shop.post('/v1/customers', { phone: '+41227310001' });
    const customer = { email: 'one@person.example', phone: '+41227310001' };
    assert.equal((await shop.post('/v1/orders', { channel_order_id: 'SO-conflict', customer })).status, 201);
    receiver.answerWith(500);
    await ping(shop);
    await worker.settled();
    // The last of its eight attempts.
    await world.db.query(sql`
      update deliveries set attempts = 7, due_at = now() where integration_id = ${shop.integrationId} and status = 'failed'`);
    await worker.settled();
    receiver.answerWith(410);
    for (let gone = 0; gone < 5; gone++) await ping(shop);
    await until(
      async () =>
        (
          await world.db.query(sql`
            select 1 from webhook_endpoints where integration_id = ${shop.integrationId} and not is_enabled`)
        ).length > 0,
      'the endpoint was not switched off',
    );

    await runWorker();
    assert.equal(server.mails.length, 2);
    const mailTo = (email: string) => server.mails.find(({ to }) => to.includes(email))?.data ?? '';
    const CONFLICT = /1 order names a buyer who may be two customers\nhttps:\/\/crownwheel\.test\/customers\?tab=/;
    const DEAD = /1 webhook was given up after its last attempt\nhttps:\/\/crownwheel\.test\/deliveries\?status=/;
    const OFF = /1 website gets no webhooks any more: its receiver answered 410 Gone 5 times\n/;
    const ownersMail = withoutSoftBreaks(mailTo(person.email));
    for (const line of [CONFLICT, DEAD, OFF]) assert.match(ownersMail, line);
    const colleaguesMail = withoutSoftBreaks(mailTo(colleague.email));
    assert.match(colleaguesMail, CONFLICT);
    for (const line of [DEAD, OFF]) assert.doesNotMatch(colleaguesMail, line);
    assert.doesNotMatch(ownersMail + colleaguesMail, /person\.example|227310001|SO-/);
  });

  it('is sent once by two workers at the same time', async () => {
    await choose('orders');
    await order();
    await Promise.all([runWorker(), runWorker(), runWorker()]);
    assert.equal(server.mails.length, 1);
  });

  it('is tried again after an answer of 4xx, by the schedule of webhooks', async () => {
    await choose('orders');
    await order();
    server.behave('refuse for now');
    await runWorker();
    assert.partialDeepStrictEqual(await stored(), [{ status: 'pending', attempts: 1 }]);
    await runWorker();
    assert.partialDeepStrictEqual(await stored(), [{ attempts: 1 }], 'not before its time');
    server.behave('accept');
    await runWorker(1);
    assert.equal(server.mails.length, 1);
    assert.partialDeepStrictEqual(await stored(), [{ status: 'sent', attempts: 2 }]);
    assert.deepEqual(givenUp, []);
  });

  it('is given up after an answer of 5xx, and the operator is told without the address', async () => {
    await choose('orders');
    await order();
    server.behave('refuse for good');
    await runWorker();
    assert.partialDeepStrictEqual(await stored(), [{ status: 'failed', attempts: 1 }]);
    assert.partialDeepStrictEqual(givenUp, [{ attempts: 1 }]);
    assert.match(givenUp[0]?.error ?? '', /550/);
    assert.doesNotMatch(JSON.stringify(givenUp), /@/);
    assert.equal(await pruneMails(world.db, new Date(Date.now() + 8 * DAY_MS)), 1);
  });

  it('is given up after the eighth attempt, like a webhook', async () => {
    await choose('orders');
    await order();
    server.behave('refuse for now');
    await runWorker();
    await world.db.query(sql`update mails set attempts = 7, due_at = now()`);
    await runWorker();
    assert.partialDeepStrictEqual(await stored(), [{ status: 'failed', attempts: 8 }]);
    assert.partialDeepStrictEqual(givenUp, [{ attempts: 8 }]);
  });

  it('keeps nothing waiting while the server hangs: orders and digests go on', async () => {
    await choose('orders');
    await order();
    server.behave('hang');
    const connectionsBefore = server.connections();
    let isEnded = false;
    const hanging = runWorker(0, 60_000).finally(() => {
      isEnded = true;
    });
    await until(async () => server.connections() > connectionsBefore, 'nobody connected to the mail server');
    await order();
    // Another worker finds nothing due: the mail that hangs is leased.
    await runWorker();
    assert.equal(isEnded, false);
    await server.stop();
    await hanging;
    server = await startSmtpServer();
    assert.partialDeepStrictEqual(await stored(), [{ status: 'pending', attempts: 1 }]);
  });

  it('is tried again if the server hangs: an attempt has a time limit', async () => {
    await choose('orders');
    await order();
    server.behave('hang');
    await runWorker(0, 100);
    assert.partialDeepStrictEqual(await stored(), [{ status: 'pending', attempts: 1 }]);
  });

  it('is checked by the doctor, which sends nothing and shows no password', async () => {
    const { port } = new URL(server.url);
    const mail = { url: `smtp://127.0.0.1:${port}`, from: 'alerts@crownwheel.test' };
    await createMailer(mail).verify();
    assert.equal(server.mails.length, 0);
    await server.stop();
    await assert.rejects(createMailer(mail).verify());
    server = await startSmtpServer();
  });

  it('is chosen by each person, and the choice is in the audit log', async () => {
    await choose('dead_letters');
    const colleague = await signedIn(world, { organizationId: person.organizationId, role: 'staff' });
    await confirm(colleague);
    assert.deepEqual((await colleague.call('GET', '/account/mail')).body.kinds, []);
    assert.equal((await person.call('PUT', '/account/mail', { kinds: ['gossip'] })).status, 400);
    const rows = await world.db.query<{ new: unknown }>(sql`
      select new_values as new from audit_log where organization_id = ${person.organizationId}
        and action = 'user.account_changed'`);
    assert.deepEqual(rows, [{ new: { mailKinds: ['dead_letters'] } }]);
  });
});
