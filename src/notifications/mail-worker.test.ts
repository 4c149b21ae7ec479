import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { until } from '../../test/harness/database/locks.ts';
import { signedIn } from '../../test/harness/http/dashboard-client.ts';
import { type SmtpServer, startSmtpServer } from '../../test/harness/servers/smtp.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { sql } from '../db/sql.ts';
import { type ClaimedMail, claimMail, recordMail } from './mail-queue.ts';
import { startMailWorker } from './mail-worker.ts';
import { createMailer, type MailTimeouts } from './smtp.ts';

/** No attempt of a test ends by its time. */
const PATIENT: MailTimeouts = { stepMs: 600_000, attemptMs: 600_000 };

describe('mail of several dealers', () => {
  let world: World;
  let server: SmtpServer;
  before(async () => {
    world = await startWorld();
  });
  after(() => world?.stop());
  beforeEach(async (t) => {
    await world.db.query(sql`delete from mails`);
    server = await startSmtpServer();
    if ('after' in t) t.after(() => server.stop());
  });

  const mailer = (timeouts = PATIENT) => createMailer({ url: server.url, from: 'alerts@crownwheel.test' }, timeouts);
  const startWorker = () =>
    startMailWorker({
      db: world.db,
      mailer: mailer(),
      publicUrl: 'https://crownwheel.test',
      secretKey: 'a secret key of this test, which is long enough',
      now: () => null,
      onFault: assert.ifError,
      onGivenUp: assert.ifError,
      everyMs: 5,
    });
  /** So many people of one dealer, each of whom waits for a code. */
  async function dealerWithMail(people: number): Promise<{ organizationId: string; emails: string[] }> {
    const { organizationId } = await world.dealer();
    const emails: string[] = [];
    for (let count = 0; count < people; count++) {
      const person = await signedIn(world, { organizationId });
      assert.equal((await person.call('PUT', '/account/mail', { kinds: ['orders'] })).status, 200);
      emails.push(person.email);
    }
    return { organizationId, emails };
  }
  const received = () => server.mails.flatMap(({ to }) => to).sort();
  const leased = () =>
    world.db.query<{ organizationId: string }>(sql`
      select organization_id as "organizationId" from mails where leased_until is not null`);

  it('goes on while the receiver of one dealer hangs, which holds one sender', async (t) => {
    const hanging = await dealerWithMail(6);
    const letGo = server.hold(hanging.emails);
    const worker = startWorker();
    t.after(async () => {
      letGo();
      await worker.stop();
    });
    await until(async () => server.connections() > 0, 'nobody connected to the mail server');
    const others = [await dealerWithMail(2), await dealerWithMail(1)].flatMap(({ emails }) => emails);
    await until(async () => server.mails.length === others.length, 'the other dealers got no mail');
    assert.deepEqual(received(), others.sort());
    // The server has a mail a moment before its sender has recorded that.
    await until(async () => (await leased()).length === 1, 'more than one sender is held');
    assert.deepEqual(await leased(), [{ organizationId: hanging.organizationId }]);
    letGo();
    const all = [...hanging.emails, ...others];
    await until(async () => server.mails.length === all.length, 'the mails that were held did not come');
    assert.deepEqual(received(), all.sort());
  });

  it('is sent at the same time, four at most', async (t) => {
    const dealers = [];
    for (let count = 0; count < 5; count++) dealers.push(await dealerWithMail(2));
    const letGo = server.hold(dealers.flatMap(({ emails }) => emails));
    const worker = startWorker();
    t.after(async () => {
      letGo();
      await worker.stop();
    });
    await until(async () => server.openConnections() === 4, 'there were not four senders');
    assert.equal(new Set((await leased()).map(({ organizationId }) => organizationId)).size, 4);
    letGo();
    await until(async () => server.mails.length === 10, 'not all mails came');
  });

  it('that is under way ends before the worker stops', async () => {
    const { emails } = await dealerWithMail(1);
    const letGo = server.hold(emails);
    const worker = startWorker();
    await until(async () => server.openConnections() === 1, 'nobody connected to the mail server');
    let isStopped = false;
    const stopping = worker.stop().then(() => {
      isStopped = true;
    });
    await until(async () => (await leased()).length === 1, 'no mail is leased');
    assert.equal(isStopped, false);
    letGo();
    await stopping;
    assert.equal(server.mails.length, 1);
    assert.deepEqual(await leased(), []);
  });

  it('is claimed in turns, and never two of a dealer at the same time', async () => {
    const dealers = [await dealerWithMail(3), await dealerWithMail(2)]
      .map(({ organizationId }) => organizationId)
      .sort();
    const [first = '', second = ''] = dealers;
    const claims = await Promise.all(Array.from({ length: 6 }, () => claimMail(world.db, '', null)));
    const claimed = claims.filter((mail): mail is ClaimedMail => mail !== null);
    assert.deepEqual(claimed.map(({ organizationId }) => organizationId).sort(), dealers);
    for (const mail of claimed) await recordMail(world.db, mail, { isSent: true }, null);
    for (const [servedLast, next] of [
      [first, second],
      [second, first],
    ] as const) {
      const mail = await claimMail(world.db, servedLast, null);
      assert.equal(mail?.organizationId, next);
      await recordMail(world.db, mail ?? assert.fail(), { isSent: true }, null);
    }
  });

  it('leaves no connection open when its time is over, even if the server talks on', async () => {
    server.behave('talk on');
    const mail = { id: 'mai_1', to: 'person@dealer.example', subject: 'News', text: 'News' };
    const result = await mailer({ ...PATIENT, attemptMs: 200 }).send(mail);
    assert.partialDeepStrictEqual(result, { isSent: false, isFinal: false, error: 'no answer within 200 ms' });
    await until(async () => server.openConnections() === 0, 'the connection stayed open');
  });
});
