import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../../test/harness/actor.ts';
import { until } from '../../../../test/harness/database/locks.ts';
import { signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { rawSocket } from '../../../../test/harness/http/raw-socket.ts';
import { watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { UPLOAD_FIRST_BYTES } from '../../../contract/dashboard/limits.ts';
import { sql } from '../../../db/sql.ts';
import { createItem } from '../../../inventory/items/item-operations.ts';

const DEALERS = 4;
const UPLOADS_PER_DEALER = 4;
const FILE_BYTES = 500_000;
/** Longer than a file waits for a slot in vain, and than any stall of a busy machine. */
const LIMIT_MS = 90_000;

type Person = Awaited<ReturnType<typeof signedIn>>;

function open(world: World, t: TestContext, person: Person, path: string, bytes: number) {
  const client = rawSocket(world.port);
  t.after(() => client.close());
  client.write(
    `POST /api/dashboard${path} HTTP/1.1\r\nHost: x\r\nOrigin: ${world.channel.publicUrl}\r\n` +
      `Cookie: ${person.cookie()}\r\nContent-Type: application/octet-stream\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  return client;
}

async function photosPath(world: World, person: Person): Promise<string> {
  const itemId = await createItem(world.channel, TESTER, person.organizationId, watch());
  return `/items/${itemId}/photos`;
}

/** As many uploads of as many dealers as there are slots, each with this much of a larger file. */
async function occupySlots(world: World, t: TestContext, sentBytes: number) {
  const clients: ReturnType<typeof rawSocket>[] = [];
  for (let dealer = 0; dealer < DEALERS; dealer++) {
    const person = await signedIn(world);
    const path = await photosPath(world, person);
    for (let upload = 0; upload < UPLOADS_PER_DEALER; upload++) {
      const client = open(world, t, person, path, FILE_BYTES);
      client.write(Buffer.alloc(sentBytes));
      clients.push(client);
    }
  }
  await sleep(100);
  return clients;
}

describe('uploads that arrive slowly', () => {
  /** A machine that stalls for two seconds must not look like a client that does. */
  const PACE = { firstBytes: 2_000, bytesPerSecond: 20_000, graceMs: 2_500 };
  let world: World;
  /** Nobody is ever too slow here. */
  let patient: World;
  before(async () => {
    world = await startWorld({ uploadPace: PACE });
    patient = await startWorld({ uploadPace: { graceMs: 10 * LIMIT_MS } });
  });
  after(async () => {
    await world.stop();
    await patient.stop();
  });

  it('hold no slot before their first bytes have come', { timeout: LIMIT_MS }, async (t) => {
    const stuck = await occupySlots(patient, t, 5);
    const dripping = setInterval(() => {
      for (const client of stuck) client.write('x');
    }, 100);
    t.after(() => clearInterval(dripping));
    const other = await signedIn(patient);
    const client = open(patient, t, other, await photosPath(patient, other), 2 * UPLOAD_FIRST_BYTES);
    client.write(Buffer.alloc(2 * UPLOAD_FIRST_BYTES));
    const answer = await client.next();
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, /not a photo/);
  });

  it('are ended with 408 request_timeout, before and after their first bytes', { timeout: LIMIT_MS }, async (t) => {
    const person = await signedIn(world);
    const path = await photosPath(world, person);
    for (const sentBytes of [1, PACE.firstBytes]) {
      const client = open(world, t, person, path, FILE_BYTES);
      client.write(Buffer.alloc(sentBytes));
      const dripping = setInterval(() => client.write('x'), 50);
      const answer = await client.next();
      clearInterval(dripping);
      assert.equal(answer.status, 408, answer.text);
      assert.equal(answer.body.error.code, 'request_timeout');
      assert.match(answer.body.error.message, /too slowly/);
      assert.equal(answer.headers.connection, 'close');
    }
  });

  it('give their slots to others, whose time of waiting does not count', { timeout: LIMIT_MS }, async (t) => {
    const other = await signedIn(world);
    const path = await photosPath(world, other);
    // What they have sent pays for longer than the other one may keep us waiting.
    const stuck = await occupySlots(world, t, PACE.firstBytes + 50_000);
    const client = open(world, t, other, path, FILE_BYTES);
    client.write(Buffer.alloc(PACE.firstBytes));
    const [first] = stuck;
    assert.equal((await first?.next())?.status, 408);
    client.write(Buffer.alloc(FILE_BYTES - PACE.firstBytes));
    const answer = await client.next();
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, /not a photo/);
  });

  it('pass if they keep the least pace, however long they take', { timeout: LIMIT_MS }, async (t) => {
    const person = await signedIn(world);
    const bytes = 160_000;
    const client = open(world, t, person, await photosPath(world, person), bytes);
    // Twice the least pace, for longer than the grace time.
    for (let sent = 0; sent < bytes; sent += 4_000) {
      client.write(Buffer.alloc(4_000));
      await sleep(100);
    }
    const answer = await client.next();
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, /not a photo/);
  });

  it('leave nothing of a zip behind', { timeout: LIMIT_MS }, async (t) => {
    const person = await signedIn(world);
    const csv = 'stock_number,title\nA-1,One\n';
    const file = open(world, t, person, '/imports?kind=listing', csv.length);
    file.write(csv);
    const { file_id: fileId } = (await file.next()).body;
    const client = open(world, t, person, `/imports/${fileId}/photos`, 5_000_000);
    client.write(Buffer.alloc(PACE.firstBytes));
    const uploads = async () =>
      await world.db.query(sql`select from stock_files where id = ${fileId} and zip_upload_id is not null`);
    await until(async () => (await uploads()).length === 1, 'the upload of the zip never began');
    assert.equal((await client.next()).status, 408);
    assert.equal((await uploads()).length, 0);
  });
});
