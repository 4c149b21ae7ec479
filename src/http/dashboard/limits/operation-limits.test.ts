import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import { holdLock, untilBlocked } from '../../../../test/harness/database/locks.ts';
import { type DashboardClient, dashboardClient, signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { startReceiver } from '../../../../test/harness/servers/receiver.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';

const FLOOD = 400;
/** Enough to fill what one dealer may send at once, of the largest bodies. */
const BODIES = 34;

describe('operations of the dashboard', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('of one dealer that hang leave connections to other dealers and to the public API', async () => {
    const attacker = await signedIn(world);
    const neighbour = await signedIn(world);
    const { api } = await world.dealer();
    // Locations are read for the choices of filters, and by nobody who is measured here.
    const lock = await holdLock(world.db, 'lock table locations in access exclusive mode', []);
    const hanging = ['/stock/choices?kind=listing', '/stock/export.csv?kind=listing'].flatMap((path) =>
      Array.from({ length: 60 }, () => attacker.call('GET', path)),
    );
    try {
      for (let round = 0; round < 5; round++) {
        assert.equal((await neighbour.call('GET', '/team')).status, 200);
        assert.equal((await api.get('/v1/listings')).status, 200);
      }
    } finally {
      await lock.release();
    }
    const statuses = new Set((await Promise.all(hanging)).map(({ status }) => status));
    assert.ok(
      [...statuses].every((status) => status === 200 || status === 503),
      [...statuses].join(),
    );
  });

  it('that change something and wait for a lock leave the same dealer what it reads', async () => {
    const owner = await signedIn(world);
    const lock = await holdLock(world.db, 'lock table business_units in access exclusive mode', []);
    const hanging = Array.from({ length: 20 }, (_, index) =>
      owner.call('POST', '/business-units', { name: `B${index}` }),
    );
    try {
      for (let round = 0; round < 5; round++) assert.equal((await owner.call('GET', '/team')).status, 200);
    } finally {
      await lock.release();
    }
    assert.deepEqual([...new Set((await Promise.all(hanging)).map(({ status }) => status))], [200]);
  });

  it('of one dealer send so many bytes at once; one more waits, is refused, and others are not concerned', async (t) => {
    const attacker = await signedIn(world);
    const neighbour = await signedIn(world);
    const refused = Promise.withResolvers<string>();
    for (let index = 0; index < BODIES; index++) {
      // Announces a body of 1 MB and sends only its beginning.
      const socket = connect(world.port, '127.0.0.1');
      t.after(() => socket.destroy());
      socket.once('data', (chunk: Buffer) => refused.resolve(chunk.toString()));
      socket.write(
        `POST /api/dashboard/views HTTP/1.1\r\nHost: x\r\nOrigin: ${world.channel.publicUrl}\r\n` +
          `Cookie: ${attacker.cookie()}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"list":`,
      );
    }
    const answer = await refused.promise;
    assert.match(answer, /^HTTP\/1\.1 503 /);
    assert.match(answer, /"code":"unavailable"/);
    assert.match(answer, /retry-after: 1/i);
    const errors = world.logLines.filter((line) => line.includes('"level":"error"'));
    assert.deepEqual(errors, [], 'a refusal is no error');
    const large = { list: 'jobs', name: 'x', query: '', is_shared: false, padding: 'x'.repeat(900_000) };
    assert.equal((await neighbour.call('POST', '/views', large)).status, 200);
  });

  it('look sessions up a few at a time: requests of one session leave connections to everybody else', async () => {
    const attacker = await signedIn(world);
    const neighbour = await signedIn(world);
    const flood = Array.from({ length: FLOOD }, () => attacker.call('GET', '/session'));
    const statuses = Promise.all(flood.map(async (answer) => (await answer).status));
    let isOver = false;
    void statuses.finally(() => {
      isOver = true;
    });
    let waiting = 0;
    while (!isOver) {
      waiting = Math.max(waiting, world.db.pool.waitingCount);
      await tick();
    }
    assert.ok(waiting < 20, `${waiting} queries wait for a connection`);
    const found = new Set(await statuses);
    assert.ok(
      [...found].every((status) => status === 200 || status === 503),
      [...found].join(),
    );
    assert.equal((await neighbour.call('GET', '/session')).status, 200);
  });

  it('look the many sessions of one person up as one: others have their turn before the second of them', async () => {
    const attacker = await signedIn(world);
    const sessions = [attacker, dashboardClient(world), dashboardClient(world), dashboardClient(world)];
    for (const session of sessions.slice(1)) assert.equal((await session.signIn(attacker.email)).status, 200);
    const neighbour = await signedIn(world);
    // From here on it is known whose they are.
    for (const session of [...sessions, neighbour]) await session.call('GET', '/session');
    const orderOfAnswers = async () => {
      const lock = await holdLock(world.db, 'lock table sessions in access exclusive mode', []);
      const order: string[] = [];
      const ask = async (client: DashboardClient, name: string) => {
        await client.call('GET', '/session');
        order.push(name);
      };
      const asked = [...sessions, ...sessions].map((session) => ask(session, 'attacker'));
      await untilBlocked(world.db);
      asked.push(ask(neighbour, 'neighbour'));
      await untilBlocked(world.db, 2);
      await lock.release();
      await Promise.all(asked);
      return order;
    };
    // The best of three: the answers come over several connections, and a busy machine may hold one of them up.
    const orders = [await orderOfAnswers(), await orderOfAnswers(), await orderOfAnswers()];
    assert.ok(Math.min(...orders.map((order) => order.indexOf('neighbour'))) < 3, orders.join(' '));
  });

  it('that wait for an endpoint leave the writes of others, and of the same dealer, alone', async (t) => {
    const receiver = await startReceiver();
    t.after(() => receiver.stop());
    const held: ServerResponse[] = [];
    receiver.answer = (response) => held.push(response);
    const people = [await signedIn(world), await signedIn(world), await signedIn(world), await signedIn(world)];
    const checks = [];
    for (const person of people) {
      const { body } = await person.call('GET', '/integrations');
      const path = `/integrations/${body.data[0].id}/webhook`;
      assert.equal((await person.call('PUT', `${path}/url`, { url: receiver.url })).status, 200);
      for (let count = 0; count < 5; count++) checks.push(person.call('POST', `${path}/check`, {}));
    }
    await receiver.until(people.length);
    for (const person of [...people, await signedIn(world)]) {
      assert.equal((await person.call('POST', '/business-units', { name: 'Beside a check' })).status, 200);
    }
    receiver.answerWith(200);
    for (const response of held) response.end();
    for (const check of checks) assert.equal((await check).status, 200);
  });
});
