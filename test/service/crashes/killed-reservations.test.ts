import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelContext } from '../../../src/channel/context.ts';
import { VERSIONS } from '../../../src/contract/versions.ts';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { sql } from '../../../src/db/sql.ts';
import { setPublished } from '../../../src/inventory/publications.ts';
import { TESTER } from '../../harness/actor.ts';
import { type ApiClient, type ApiResponse, apiClient } from '../../harness/http/api-client.ts';
import { type OwnServer, startOwnServer } from '../../harness/servers/own-server.ts';
import { addShop, freshKey, openShop, type Shop } from '../../harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../harness/stock.ts';
import { freePort, type Service, startService, sweep, temporaryFolder, until } from '../service-process.ts';

const RACERS = 100;
const ROUNDS = 8;
const CLIENTS = 4;
const STOCK_UNITS = 1_000_000;
/** A client whose request failed goes on after this. */
const PAUSE_MS = 250;

type Node = { service: Service; env: Record<string, string> };
/** One request, to be sent until it was answered. */
type Sent = { path: string; body: object; key: { 'idempotency-key': string }; answer: ApiResponse | null };

describe('reservations on two processes of the service and one PostgreSQL', () => {
  let server: OwnServer;
  let db: Database;
  let channel: ChannelContext;
  let nodes: [Node, Node];
  /** Two websites of one dealer. */
  let shops: [Shop, Shop];

  before(async () => {
    server = await startOwnServer();
    db = openDatabase({ address: server.address, poolSize: 4, onIdleError: () => {} });
    await migrate(db);
    channel = { db, now: () => null, publicUrl: 'https://api.crownwheel.test', versions: VERSIONS, onEvents: () => {} };
    nodes = await Promise.all([startNode(), startNode()]);
    const world = { db, client: (key: string | null) => apiClient(nodes[0].service.origin, key) };
    const shop = await openShop(world);
    shops = [shop, await addShop(world, shop)];
  });
  after(async () => {
    await sweep();
    await db?.close();
    await server?.remove();
  });

  async function startNode(): Promise<Node> {
    const { socketDir, user, database } = server.address as { socketDir: string; user: string; database: string };
    const env = {
      DATA_DIR: await temporaryFolder(),
      DATABASE_URL: `postgresql:///${database}?host=${encodeURIComponent(socketDir)}&user=${user}`,
      SECRET_KEYS: 'a-secret-key-of-at-least-thirty-two-characters',
      ROLES: 'api,worker',
      PORT: String(await freePort()),
    };
    const service = await startService({ env });
    await service.says('Stop:');
    return { service, env };
  }

  /** A website as it reaches one process or the other. */
  const onNode = (shop: Shop, index: number): ApiClient =>
    apiClient((nodes[index % 2] ?? nodes[0]).service.origin, shop.apiKey);

  async function onBothChannels(item: Parameters<typeof publishNew>[2]): Promise<string> {
    const id = await publishNew({ channel }, shops[0], item);
    await setPublished(channel, TESTER, shops[0].organizationId, shops[1].integrationId, [id], true);
    return id;
  }

  it('sell a watch once: of 100 clients for the last unit one wins, 99 get 409', async () => {
    const id = await onBothChannels(watch());
    const answers = await Promise.all(
      Array.from({ length: RACERS }, (_, index) => reserve(onNode(shops[index % 4 < 2 ? 0 : 1], index), id)),
    );
    const lost = answers.filter(({ status, body }) => status === 409 && body.error.code === 'not_available');
    assert.deepEqual([answers.filter(({ status }) => status === 201).length, lost.length], [1, RACERS - 1]);
    assert.deepEqual(await stockOf({ db }, id), { units: 1, held: 1 });
  });

  it('are taken over by their order or by another checkout in the moment of expiry, never by both', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const id = await onBothChannels(watch());
      const { body: reservation } = await onNode(shops[0], 0).post('/v1/reservations', { listing_id: id }, freshKey());
      // It ends while the requests are on their way, so that some come a moment before and some a moment after.
      await db.query(sql`
        update reservations set expires_at = clock_timestamp() + make_interval(secs => ${(round % 4) * 0.01})
        where id = ${reservation.id}`);
      const lines = [{ listing_id: id, reservation_id: reservation.id }];
      const [order, rival] = await Promise.all([
        onNode(shops[0], 1).post('/v1/orders', { channel_order_id: `MOMENT-${round}`, lines }, freshKey()),
        onNode(shops[1], 0).post('/v1/reservations', { listing_id: id }, freshKey()),
        onNode(shops[1], 1).get(`/v1/listings/${id}`),
      ]);
      const isMatched = order.body.lines[0].match !== null;
      assert.deepEqual([order.status, rival.status], [201, isMatched ? 409 : 201]);
      const { status, order_id: orderId } = (await onNode(shops[0], 0).get(`/v1/reservations/${reservation.id}`)).body;
      assert.deepEqual([status, orderId], isMatched ? ['used', order.body.id] : ['expired', null]);
      assert.deepEqual(await stockOf({ db }, id), { units: 1, held: 1 });
    }
  });

  it('exist once and hold exactly their units, when PostgreSQL and each process are killed in the middle', async () => {
    const partId = await onBothChannels(part({ units: STOCK_UNITS }));
    const forgotten = await onBothChannels(watch());
    await onNode(shops[1], 0).post('/v1/reservations', { listing_id: forgotten }, freshKey());
    await db.query(sql`update reservations set expires_at = now() where item_id = ${forgotten}`);
    const sent: Sent[] = [];
    const load = new AbortController();
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      keepReserving(() => onNode(shops[0], index), partId, sent, load.signal),
    );
    const kills = [
      () => server.kill(),
      ...nodes.map((node) => async () => {
        node.service.signal('SIGKILL');
        await node.service.exit();
        node.service = await startService({ env: node.env });
        await node.service.isHealthy();
      }),
    ];
    for (const kill of kills) {
      const before = answered(sent);
      await until(
        () => answered(sent) > before + 20,
        () => 'no reservations came through',
      );
      await sleep(Math.random() * 100);
      await kill();
    }
    await until(
      async () => (await onNode(shops[0], 0).get('/v1/me')).status === 200,
      () => 'the database never came back',
    );
    load.abort();
    await Promise.all(clients);

    assert.ok(answered(sent) < sent.length, 'no kill cut a request short, so this has proved nothing');
    for (const [index, request] of sent.entries()) {
      const again = await onNode(shops[0], index).post(request.path, request.body, request.key);
      if (request.answer === null) continue;
      assert.deepEqual([again.status, again.text], [request.answer.status, request.answer.text]);
      assert.equal(again.headers['idempotent-replay'], 'true');
    }
    await assertBooks(partId);
    // Nobody has read this one: the worker of a process ends what is over.
    await until(
      async () => (await stockOf({ db }, forgotten)).held === 0,
      () => 'no worker ended what was over',
    );
    for (const { service } of nodes) {
      service.signal('SIGTERM');
      assert.equal(await service.exit(), 0, service.err());
    }
  });

  /** Each answered reservation is one row, and the part's held units are those of its orders when all have ended. */
  async function assertBooks(partId: string): Promise<void> {
    const [ids] = await db.query<{ rows: number; records: number }>(sql`
      select (select count(*) from reservations where item_id = ${partId}) as rows,
        (select count(*) from idempotency_records
          where status = 201 and body like '%"object":"reservation"%' and body like ${`%${partId}%`}) as records`);
    assert.equal(ids?.rows, ids?.records);
    await db.query(sql`update reservations set expires_at = now() where item_id = ${partId} and status = 'active'`);
    // A read by id ends what is over, on whichever process.
    const { quantity } = (await onNode(shops[1], 1).get(`/v1/parts/${partId}`)).body;
    const [books] = await db.query<{ held: number; active: number; ordered: number }>(sql`
      select (select reserved_units from items where id = ${partId}) as held,
        (select count(*) from reservations where item_id = ${partId} and status = 'active') as active,
        (select coalesce(sum(units), 0)::integer from order_lines where is_holding and item_id = ${partId}) as ordered`);
    assert.ok(books);
    assert.deepEqual([books.held, books.active, quantity], [books.ordered, 0, STOCK_UNITS - books.ordered]);
  }
});

/** Asks until the service has decided: a machine that is busy may make it answer 503 before anything was done. */
async function reserve(client: ApiClient, listingId: string): Promise<ApiResponse> {
  const key = freshKey();
  for (;;) {
    const answer = await client.post('/v1/reservations', { listing_id: listingId }, key);
    if (answer.status !== 503) return answer;
    await sleep(PAUSE_MS);
  }
}

/** Reserves, then lets an order take it or releases it, one after the other, whether or not anybody answers. */
async function keepReserving(
  client: () => ApiClient,
  partId: string,
  sent: Sent[],
  signal: AbortSignal,
): Promise<void> {
  const send = async (path: string, body: object): Promise<ApiResponse | null> => {
    const request: Sent = { path, body, key: { 'idempotency-key': randomUUID() }, answer: null };
    sent.push(request);
    const answer = await client()
      .post(path, body, request.key)
      .catch(() => null);
    if (answer !== null && answer.status < 300) request.answer = answer;
    else await sleep(PAUSE_MS);
    return request.answer;
  };
  while (!signal.aborted) {
    const reserved = await send('/v1/reservations', { part_id: partId, quantity: 2 });
    if (reserved === null) continue;
    const { id } = reserved.body;
    if (Math.random() < 0.5) await send(`/v1/reservations/${id}/release`, {});
    else {
      const lines = [{ part_id: partId, quantity: 2, reservation_id: id }];
      await send('/v1/orders', { channel_order_id: `SO-${id}`, lines });
    }
  }
}

function answered(sent: Sent[]): number {
  return sent.filter((request) => request.answer !== null).length;
}
