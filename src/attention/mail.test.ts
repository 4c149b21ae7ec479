import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { signedIn } from '../../test/harness/http/dashboard-client.ts';
import { type SmtpServer, startSmtpServer } from '../../test/harness/servers/smtp.ts';
import { addShop, type Shop } from '../../test/harness/shop.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { sql } from '../db/sql.ts';
import { dismissOrder } from '../sales/orders/order-operations.ts';
import { pruneMails } from './mail-queue.ts';
import { runMail } from './mail-worker.ts';
import { createMailer } from './smtp.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe('mail about what needs attention', () => {
  let world: World;
  let server: SmtpServer;
  let person: Awaited<ReturnType<typeof signedIn>>;
  let shop: Shop;
  let givenUp: { id: string; attempts: number; error: string }[] = [];
  let orders = 0;
  before(async () => {
    world = await startWorld();
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
    shop = await addShop(world, person);
  });

  async function choose(...kinds: string[]) {
    const answer = await person.call('PUT', '/account/mail', { kinds });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, { is_available: true, kinds });
  }
  async function order(): Promise<string> {
    orders += 1;
    const customer = { email: `buyer${orders}@person.example`, first_name: 'Ada' };
    return (await shop.post('/v1/orders', { channel_order_id: `SO-${orders}`, customer })).body.id;
  }
  /** What the worker does at each turn, so many minutes from now. */
  async function turn(minutes = 0, stepMs = 5_000) {
    const now = minutes === 0 ? null : new Date(Date.now() + minutes * MINUTE_MS);
    await runMail({
      db: world.db,
      mailer: createMailer(
        { url: server.url, from: 'Crownwheel <alerts@crownwheel.test>' },
        { stepMs, attemptMs: 20_000 },
      ),
      publicUrl: 'https://crownwheel.test',
      now: () => now,
      onFault: assert.ifError,
      onGivenUp: (mail) => givenUp.push(mail),
    });
  }
  const stored = () =>
    world.db.query<{ status: string; attempts: number; last_error: string | null }>(
      sql`select status, attempts, last_error from mails order by id`,
    );

  it('tells a person of new orders in one mail with a link, and nothing about the buyers', async () => {
    await order();
    await choose('orders');
    await turn();
    assert.equal(server.mails.length, 0, 'what happened before the choice is not told');
    await order();
    await order();
    await turn();
    const [mail] = server.mails;
    assert.equal(server.mails.length, 1);
    assert.deepEqual(mail?.to, [person.email]);
    assert.match(mail?.from ?? '', /alerts@crownwheel\.test/);
    assert.match(mail?.data ?? '', /Subject: .*2 new orders wait in the queue/);
    assert.match(mail?.data ?? '', /https:\/\/crownwheel\.test\/orders\n/);
    assert.doesNotMatch(mail?.data ?? '', /person\.example|Ada|SO-/);
    await turn();
    assert.equal(server.mails.length, 1, 'the same orders are not told twice');
  });

  it('writes at most once an hour about a kind, and then about all that came meanwhile', async () => {
    await choose('orders', 'conflicts');
    await order();
    await turn();
    await order();
    await order();
    await turn(59);
    assert.equal(server.mails.length, 1);
    await turn(61);
    assert.equal(server.mails.length, 2);
    assert.match(server.mails[1]?.data ?? '', /2 new orders wait/);
  });

  it('does not tell of what was dealt with meanwhile, nor those who did not choose it', async () => {
    await choose('orders');
    await dismissOrder(world.channel, TESTER, person.organizationId, await order(), null);
    await turn();
    assert.equal(server.mails.length, 0);
    await choose();
    await order();
    await turn();
    assert.equal(server.mails.length, 0);
  });

  it('is sent once by two workers at the same time', async () => {
    await choose('orders');
    await order();
    await Promise.all([turn(), turn(), turn()]);
    assert.equal(server.mails.length, 1);
  });

  it('is tried again after an answer of 4xx, by the schedule of webhooks', async () => {
    await choose('orders');
    await order();
    server.behave('refuse for now');
    await turn();
    assert.partialDeepStrictEqual(await stored(), [{ status: 'pending', attempts: 1 }]);
    await turn();
    assert.partialDeepStrictEqual(await stored(), [{ attempts: 1 }], 'not before its time');
    server.behave('accept');
    await turn(1);
    assert.equal(server.mails.length, 1);
    assert.partialDeepStrictEqual(await stored(), [{ status: 'sent', attempts: 2 }]);
    assert.deepEqual(givenUp, []);
  });

  it('is given up after an answer of 5xx, and the operator is told without the address', async () => {
    await choose('orders');
    await order();
    server.behave('refuse for good');
    await turn();
    assert.partialDeepStrictEqual(await stored(), [{ status: 'failed', attempts: 1 }]);
    assert.partialDeepStrictEqual(givenUp, [{ attempts: 1 }]);
    assert.match(givenUp[0]?.error ?? '', /550/);
    assert.doesNotMatch(JSON.stringify(givenUp), /@/);
    assert.equal(await pruneMails(world.db, new Date(Date.now() + 8 * DAY_MS)), 1);
  });

  it('is tried again if the server hangs: an attempt has a time limit', async () => {
    await choose('orders');
    await order();
    server.behave('hang');
    await turn(0, 100);
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
    assert.deepEqual((await colleague.call('GET', '/account/mail')).body.kinds, []);
    assert.equal((await person.call('PUT', '/account/mail', { kinds: ['gossip'] })).status, 400);
    const rows = await world.db.query<{ new: unknown }>(sql`
      select new_values as new from audit_log where organization_id = ${person.organizationId}
        and action = 'user.account_changed'`);
    assert.deepEqual(rows, [{ new: { mailKinds: ['dead_letters'] } }]);
  });
});
