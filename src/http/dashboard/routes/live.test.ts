import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../../test/harness/actor.ts';
import { type DashboardClient, dashboardClient, signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { addShop } from '../../../../test/harness/shop.ts';
import { connectReceiver, ping, startTestWorker } from '../../../../test/harness/webhooks/webhook-world.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { STREAMS_PER_DEALER_LIMIT, STREAMS_PER_PERSON_LIMIT } from '../../../contract/dashboard/limits.ts';
import { sql } from '../../../db/sql.ts';
import { removeMember } from '../../../dealers/users/team.ts';
import { createChangeFeed } from '../../../live/change-feed.ts';

/** One open stream: what it has said so far, and a wait for more. */
async function openStream(world: World, client: DashboardClient, lastEventId?: string) {
  const stopping = new AbortController();
  const response = await fetch(`${world.origin}/api/dashboard/stream`, {
    headers: { cookie: client.cookie(), ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
    signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(30_000)]),
  });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    text: () => text,
    async says(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const found = pattern.exec(text);
        if (found !== null) return found;
        const { value, done } = await reader.read();
        assert.ok(!done, `the stream ended before it said ${pattern}: ${text}`);
        text += decoder.decode(value, { stream: true });
      }
    },
    async ends(): Promise<void> {
      while (!(await reader.read()).done);
    },
    close: () => stopping.abort(),
  };
}

async function until(assertion: () => Promise<void>): Promise<void> {
  const end = Date.now() + 20_000;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(20);
    }
  }
}

describe('the live stream', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('tells a dealer’s tabs what changed by kind and id, and nobody else', async (t) => {
    const [person, stranger] = [await signedIn(world), await signedIn(world)];
    const [own, other] = [await openStream(world, person), await openStream(world, stranger)];
    t.after(() => [own, other].map((stream) => stream.close()));
    world.channel.notifyDashboards?.(person.organizationId, 'item', ['lst_1']);
    await own.says(/event: changes\ndata: \[\{"kind":"item","ids":\["lst_1"\]\}\]/);
    world.channel.notifyDashboards?.(stranger.organizationId, 'order', ['ord_2']);
    await other.says(/ord_2/);
    assert.doesNotMatch(other.text(), /lst_1/);
  });

  it('tells of changes that other nodes commit', async (t) => {
    const person = await signedIn(world);
    const stream = await openStream(world, person);
    const otherNode = createChangeFeed(world.db);
    t.after(async () => {
      stream.close();
      await otherNode.stop();
    });
    // The stream may be open before its node listens to the others: notified until it is heard.
    const notifying = setInterval(() => otherNode.notify(person.organizationId, 'job', ['job_1']), 100);
    t.after(() => clearInterval(notifying));
    await stream.says(/"kind":"job","ids":\["job_1"\]/);
  });

  it('resumes after the last event that a tab has seen, or says that it must reload', async (t) => {
    const person = await signedIn(world);
    const first = await openStream(world, person);
    t.after(() => first.close());
    world.channel.notifyDashboards?.(person.organizationId, 'item', ['lst_seen']);
    const [, id] = await first.says(/id: (\S+)\nevent: changes\ndata: .*lst_seen/);
    first.close();
    world.channel.notifyDashboards?.(person.organizationId, 'item', ['lst_missed']);
    const second = await openStream(world, person, id);
    t.after(() => second.close());
    await second.says(/lst_missed/);
    assert.doesNotMatch(second.text(), /lst_seen|reload/);
    const third = await openStream(world, person, 'another.7');
    t.after(() => third.close());
    await third.says(/event: reload/);
  });

  it('says that a tab must reload if it has missed more than a stream can hold', async (t) => {
    const person = await signedIn(world);
    const first = await openStream(world, person);
    t.after(() => first.close());
    world.channel.notifyDashboards?.(person.organizationId, 'item', ['lst_seen']);
    const [, id] = await first.says(/id: (\S+)\nevent: changes\ndata: .*lst_seen/);
    for (let count = 0; count < 30; count++) {
      const ids = Array.from({ length: 90 }, (_, index) => `lst_${count}_${'x'.repeat(20)}_${index}`);
      world.channel.notifyDashboards?.(person.organizationId, 'item', ids);
      await first.says(new RegExp(`lst_${count}_x*_89`));
    }
    const second = await openStream(world, person, id);
    t.after(() => second.close());
    await second.says(/event: reload/);
  });

  it('tells of a new order, a conflict, a dead letter and webhooks that are switched off, and the badges count them', async (t) => {
    const person = await signedIn(world);
    const shop = await addShop(world, person);
    const receiver = await connectReceiver(world, shop);
    receiver.answerWith(410);
    const worker = startTestWorker(world);
    const stream = await openStream(world, person);
    t.after(async () => {
      stream.close();
      await worker.stop();
      await receiver.stop();
      world.setTime(null);
    });
    const counts = async () => (await person.call('GET', '/badges')).body.counts;
    assert.deepEqual(new Set(Object.values(await counts())), new Set([0]));
    const customers = [
      { external_id: 'web-1', email: 'one@person.example' },
      { external_id: 'web-2', email: 'two@person.example' },
      { external_id: 'web-1', email: 'two@person.example' },
    ];
    for (const [index, customer] of customers.entries()) {
      await shop.post('/v1/orders', { channel_order_id: `SO-${index}`, customer });
    }
    await stream.says(/"kind":"order"/);
    assert.partialDeepStrictEqual(await counts(), { orders: 3, customers: 1 });
    for (let sent = 0; sent < 5; sent++) await ping(shop);
    await receiver.until(5);
    await stream.says(/"kind":"integration"/);
    await until(async () => assert.equal((await counts()).integrations, 1));
    await world.db.query(sql`
      update deliveries set status = 'dead_letter', due_at = null, is_waiting = false
      where integration_id = ${shop.integrationId}`);
    assert.equal((await counts()).deliveries, 5);
  });

  it('says "many" where there are too many ids', async (t) => {
    const person = await signedIn(world);
    const stream = await openStream(world, person);
    t.after(() => stream.close());
    world.channel.notifyDashboards?.(
      person.organizationId,
      'item',
      Array.from({ length: 500 }, (_, index) => `lst_${index}`),
    );
    await stream.says(/"kind":"item","ids":null/);
  });

  it('ends when the server stops, and needs a session', async (t) => {
    const own = await startWorld();
    t.after(() => own.stop());
    const stream = await openStream(own, await signedIn(own));
    await own.app.close();
    await stream.ends();
    assert.equal((await fetch(`${world.origin}/api/dashboard/stream`)).status, 401);
  });

  it('ends within seconds when its session is revoked, its person is removed or has another role', async (t) => {
    const owner = await signedIn(world);
    const { organizationId } = owner;
    const staff = () => signedIn(world, { organizationId, role: 'staff' });
    const elsewhere = dashboardClient(world);
    await elsewhere.signIn(owner.email);
    const [removed, promoted, byOperator, signedOut] = await Promise.all([staff(), staff(), staff(), staff()]);
    const endings: [string, DashboardClient, () => Promise<unknown>][] = [
      ['revoked', elsewhere, () => owner.call('DELETE', '/account/sessions')],
      ['removed', removed, () => owner.call('DELETE', `/team/${removed.userId}`)],
      ['another role', promoted, () => owner.call('PATCH', `/team/${promoted.userId}`, { role: 'owner' })],
      ['signed out', signedOut, () => signedOut.call('DELETE', '/session')],
      // Nobody is notified: the next look at all sessions finds it.
      [
        'removed on the command line',
        byOperator,
        () => removeMember(world.db, TESTER, { organizationId, userId: byOperator.userId }),
      ],
    ];
    const kept = await openStream(world, owner);
    t.after(() => kept.close());
    for (const [why, client, end] of endings) {
      const stream = await openStream(world, client);
      t.after(() => stream.close());
      await end();
      await stream.ends().catch((error: unknown) => assert.fail(`${why}: ${error}`));
    }
    world.channel.notifyDashboards?.(organizationId, 'item', ['lst_kept']);
    await kept.says(/lst_kept/);
  });

  it('is open so many times for one person, and for one dealer, at most', async (t) => {
    const owner = await signedIn(world);
    const { organizationId } = owner;
    const stopping = new AbortController();
    t.after(() => stopping.abort());
    // A response that nothing refers to is closed when memory is collected.
    const responses: Response[] = [];
    const open = async (client: DashboardClient) => {
      const headers = { cookie: client.cookie() };
      const response = await fetch(`${world.origin}/api/dashboard/stream`, { headers, signal: stopping.signal });
      responses.push(response);
      return response.status;
    };
    const openMany = async (client: DashboardClient, count: number) =>
      await Promise.all(Array.from({ length: count }, () => open(client)));
    const statuses = await openMany(owner, STREAMS_PER_PERSON_LIMIT + 5);
    assert.equal(statuses.filter((status) => status === 200).length, STREAMS_PER_PERSON_LIMIT);
    assert.equal(statuses.filter((status) => status === 429).length, 5);
    for (let left = STREAMS_PER_DEALER_LIMIT - STREAMS_PER_PERSON_LIMIT; left > 0; left -= STREAMS_PER_PERSON_LIMIT) {
      await openMany(await signedIn(world, { organizationId }), Math.min(left, STREAMS_PER_PERSON_LIMIT));
    }
    assert.equal(await open(await signedIn(world, { organizationId })), 429);
    assert.equal(await open(await signedIn(world)), 200, 'another dealer');
  });

  it('ends for a client that does not read, instead of keeping in memory what it misses', async (t) => {
    const person = await signedIn(world);
    const accepted = once(world.app.server, 'connection') as Promise<[Socket]>;
    const client = connect(world.port, '127.0.0.1');
    t.after(() => client.destroy());
    client.write(`GET /api/dashboard/stream HTTP/1.1\r\nhost: localhost\r\ncookie: ${person.cookie()}\r\n\r\n`);
    await once(client, 'readable');
    const [socket] = await accepted;
    // Ids as long as these fill what the operating system takes, some megabytes, within a few events.
    const ids = Array.from({ length: 90 }, (_, index) => `${index}`.repeat(10_000));
    while (!socket.destroyed) {
      assert.ok(socket.writableLength < 8_000_000, 'the service keeps what nobody reads');
      world.channel.notifyDashboards?.(person.organizationId, 'item', ids);
      await sleep(60);
    }
  });
});
