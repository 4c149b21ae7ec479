import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelContext } from '../../src/channel/context.ts';
import { VERSIONS } from '../../src/contract/versions.ts';
import type { Database } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { hashApiKey } from '../../src/dealers/integrations/api-keys.ts';
import { createItem } from '../../src/inventory/items/items.ts';
import { setPublished } from '../../src/inventory/publications.ts';
import { TESTER } from '../harness/actor.ts';
import { type ApiClient, type ApiResponse, apiClient } from '../harness/http/api-client.ts';
import { part } from '../harness/stock.ts';
import {
  DEMO_KEY,
  databaseIn,
  freePort,
  type Service,
  seededFolder,
  startService,
  sweep,
  until,
} from './service-process.ts';

const CLIENTS = 4;
const KILLS = 3;
const STOCK_UNITS = 1_000_000;
/** A client whose request failed goes on after this. */
const PAUSE_MS = 250;

/** One request, to be sent until it was answered. */
type Sent = { path: string; body: object; key: { 'idempotency-key': string }; answer: ApiResponse | null };

describe('reservations under a service that is killed again and again', () => {
  let dataDir: string;
  let env: Record<string, string>;
  let service: Service;
  let api: ApiClient;
  before(async () => {
    dataDir = await seededFolder();
    env = { DATA_DIR: dataDir, PORT: String(await freePort()) };
    service = await startService({ env });
    await service.isHealthy();
    api = apiClient(service.origin, DEMO_KEY);
  });
  after(sweep);

  it('exist once, and hold exactly their units until they end', async () => {
    const partId = await prepare(dataDir);
    const sent: Sent[] = [];
    const load = new AbortController();
    const clients = Array.from({ length: CLIENTS }, () => keepReserving(api, partId, sent, load.signal));
    for (let kill = 1; kill <= KILLS; kill++) {
      const before = answered(sent);
      await until(
        () => answered(sent) > before + 20,
        () => 'no reservations came through',
      );
      await sleep(Math.random() * 100);
      service.signal('SIGKILL');
      await service.exit();
      service = await startService({ env });
      await service.isHealthy();
    }

    load.abort();
    await Promise.all(clients);

    assert.ok(answered(sent) < sent.length, 'no kill cut a request short, so this has proved nothing');
    for (const request of sent) {
      const again = await api.post(request.path, request.body, request.key);
      if (request.answer === null) continue;
      assert.deepEqual([again.status, again.text], [request.answer.status, request.answer.text]);
      assert.equal(again.headers['idempotent-replay'], 'true');
    }
    await withDatabase(dataDir, (db) =>
      db.query(sql`update reservations set expires_at = now() where status = 'active'`),
    );
    // A read by id ends what is over; the worker would do it within its next look.
    assert.equal(
      (await api.get(`/v1/parts/${partId}`)).body.quantity,
      STOCK_UNITS - (await unitsOfOrders(dataDir, partId)),
    );
    const [books] = await withDatabase(dataDir, (db) =>
      db.query<{ held: number; active: number; ids: number; records: number }>(sql`
        select (select reserved_units from items where id = ${partId}) as held,
          (select count(*) from reservations where status = 'active') as active,
          (select count(distinct id) from reservations) as ids,
          (select count(*) from idempotency_records where status = 201 and body like '%"object":"reservation"%') as records`),
    );
    assert.deepEqual(books, {
      held: await unitsOfOrders(dataDir, partId),
      active: 0,
      ids: books?.records,
      records: books?.records,
    });
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());
  });
});

/** Reserves, then lets an order take it or releases it, one after the other, whether or not anybody answers. */
async function keepReserving(api: ApiClient, partId: string, sent: Sent[], signal: AbortSignal): Promise<void> {
  const send = async (path: string, body: object): Promise<ApiResponse | null> => {
    const request: Sent = { path, body, key: { 'idempotency-key': randomUUID() }, answer: null };
    sent.push(request);
    const answer = await api.post(path, body, request.key).catch(() => null);
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

/** Of this part alone: the demo's orders hold units of theirs. */
async function unitsOfOrders(dataDir: string, partId: string): Promise<number> {
  const [row] = await withDatabase(dataDir, (db) =>
    db.query<{ units: number }>(sql`
      select coalesce(sum(units), 0)::integer as units from order_lines
      where is_holding and item_id = ${partId}`),
  );
  return row?.units ?? 0;
}

/** Lifts the rate limit and puts a part on the channel, with more units than can be sold. */
async function prepare(dataDir: string): Promise<string> {
  return await withDatabase(dataDir, async (db) => {
    const [integration] = await db.query<{ id: string; organization_id: string }>(sql`
      update integrations set rate_limit_override = 1000000 where key_hash = ${hashApiKey(DEMO_KEY)}
      returning id, organization_id`);
    assert.ok(integration);
    const { id: integrationId, organization_id: organizationId } = integration;
    const channel: ChannelContext = {
      db,
      now: () => null,
      publicUrl: 'https://api.crownwheel.test',
      versions: VERSIONS,
      onEvents: () => {},
    };
    const id = await createItem(channel, TESTER, organizationId, part({ units: STOCK_UNITS, stockNumber: 'KILL' }));
    await setPublished(channel, TESTER, organizationId, integrationId, [id], true);
    return id;
  });
}

async function withDatabase<Result>(dataDir: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const db = databaseIn(dataDir);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
