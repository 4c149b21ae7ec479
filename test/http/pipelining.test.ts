import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { UNANSWERED_REQUESTS_LIMIT } from '../../src/contract/limits.ts';
import { sql } from '../../src/db/sql.ts';
import { rawSocket } from '../harness/http/raw-socket.ts';
import { startWorld, type World } from '../harness/world.ts';

describe('requests that a connection sends without waiting for answers', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('are answered up to a limit; a connection that sends more is cut', async () => {
    const one = 'GET /api/v1/ready HTTP/1.1\r\nHost: a\r\n\r\n';
    const polite = rawSocket(world.port);
    polite.write(one.repeat(UNANSWERED_REQUESTS_LIMIT + 1));
    for (let count = 0; count <= UNANSWERED_REQUESTS_LIMIT; count++) assert.equal((await polite.next()).status, 200);
    // What was answered counts no more.
    polite.write(one.repeat(UNANSWERED_REQUESTS_LIMIT + 1));
    for (let count = 0; count <= UNANSWERED_REQUESTS_LIMIT; count++) assert.equal((await polite.next()).status, 200);
    polite.close();

    const greedy = rawSocket(world.port);
    greedy.write(one.repeat(5_000));
    await greedy.closed;
    const answers = greedy.rest().split('HTTP/1.1 200').length - 1;
    assert.ok(answers <= UNANSWERED_REQUESTS_LIMIT + 1, `${answers} of 5,000 were answered`);
  });

  it('are all answered before what is no HTTP behind them is refused, also those that wait for their turn', async () => {
    const dealer = await world.dealer();
    const other = await world.dealer();
    await dealer.api.get('/v1/me');
    const ping = () =>
      [
        'POST /api/v1/test/webhook_ping HTTP/1.1',
        'Host: a',
        `Authorization: Bearer ${dealer.apiKey}`,
        'Content-Type: application/json',
        `Idempotency-Key: ${randomUUID()}`,
        'Content-Length: 2',
        '',
        '{}',
      ].join('\r\n');
    const client = rawSocket(world.port);
    // Beside another client, a few requests of each begin in a turn.
    const busy = Promise.all(Array.from({ length: 20 }, () => other.api.get('/v1/me')));
    client.write(`${Array.from({ length: 12 }, ping).join('')}rubbish\r\n\r\n`);
    const statuses: number[] = [];
    for (let count = 0; count < 13; count++) statuses.push((await client.next()).status);
    assert.deepEqual(statuses, [...Array.from({ length: 12 }, () => 200), 400]);
    await client.closed;
    await busy;
    const [row] = await world.db.query<{ count: number }>(sql`
      select count(*) as count from events where integration_id = ${dealer.integrationId}`);
    assert.equal(row?.count, 12);
  });
});
