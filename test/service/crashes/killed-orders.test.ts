import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelContext } from '../../../src/channel/context.ts';
import { VERSIONS } from '../../../src/contract/versions.ts';
import type { Database } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import { hashApiKey } from '../../../src/dealers/integrations/api-keys.ts';
import { createItem } from '../../../src/inventory/items/item-operations.ts';
import { setPublished } from '../../../src/inventory/publications.ts';
import { TESTER } from '../../harness/actor.ts';
import { type ApiClient, type ApiResponse, apiClient } from '../../harness/http/api-client.ts';
import { part } from '../../harness/stock.ts';
import {
  DEMO_KEY,
  databaseIn,
  freePort,
  postmasterOf,
  type Service,
  seededFolder,
  startService,
  sweep,
  until,
} from '../service-process.ts';

const CLIENTS = 6;
const KILLS = 4;
const STOCK_UNITS = 1_000_000;
/** A client whose request failed goes on after this. */
const PAUSE_MS = 250;

/** One order of the client's, to be reported until it was answered. */
type Report = { body: object; key: { 'idempotency-key': string }; answer: ApiResponse | null };

describe('orders under a service that is killed again and again', () => {
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

  it('exist exactly once, and each retry repeats the answer that was received', async () => {
    const partId = await prepare(dataDir);
    const reports: Report[] = [];
    const load = new AbortController();
    const clients = Array.from({ length: CLIENTS }, () => keepReporting(api, partId, reports, load.signal));

    for (let kill = 1; kill <= KILLS; kill++) {
      const before = answered(reports);
      await until(
        () => answered(reports) > before + 20,
        () => 'no orders came through',
      );
      await sleep(Math.random() * 100);
      const isDatabaseKilledToo = kill === KILLS;
      const postmaster = await postmasterOf(dataDir);
      service.signal('SIGKILL');
      if (isDatabaseKilledToo && postmaster !== null) process.kill(postmaster, 'SIGKILL');
      await service.exit();
      service = await startService({ env });
      await service.isHealthy();
    }
    load.abort();
    await Promise.all(clients);

    const lost = reports.filter((report) => report.answer === null).length;
    assert.ok(lost > 0, 'no kill cut a request short, so this has proved nothing');
    const left = [...reports];
    await Promise.all(Array.from({ length: CLIENTS }, () => retryAll(api, left)));
    await assertStoredOnce(dataDir, partId, reports);
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());
  });
});

/** Reports one order after the other, whether or not anybody answers. */
async function keepReporting(api: ApiClient, partId: string, reports: Report[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const body = {
      channel_order_id: `SO-${reports.length}`,
      lines: [{ part_id: partId }],
      customer: { email: 'a@b.ch' },
    };
    const report: Report = { body, key: { 'idempotency-key': randomUUID() }, answer: null };
    reports.push(report);
    const answer = await api.post('/v1/orders', body, report.key).catch(() => null);
    if (answer?.status === 201) report.answer = answer;
    else await sleep(PAUSE_MS);
  }
}

/** Sends every request once more; one that was answered before must get that answer again. */
async function retryAll(api: ApiClient, left: Report[]): Promise<void> {
  for (let report = left.pop(); report !== undefined; report = left.pop()) {
    const again = await api.post('/v1/orders', report.body, report.key);
    assert.equal(again.status, 201, again.text);
    if (report.answer === null) continue;
    assert.equal(again.text, report.answer.text);
    assert.equal(again.headers['idempotent-replay'], 'true');
  }
}

function answered(reports: Report[]): number {
  return reports.filter((report) => report.answer !== null).length;
}

/** Lifts the rate limit and puts a part on the channel, with more units than can be sold. */
async function prepare(dataDir: string): Promise<string> {
  return await withDatabase(dataDir, async (db) => {
    const [integration] = await db.query<{ id: string; organization_id: string }>(sql`
      update integrations set rate_limit_override = 1000000 where key_hash = ${hashApiKey(DEMO_KEY)}
      returning id, organization_id`);
    assert.ok(integration);
    const channel: ChannelContext = {
      db,
      now: () => null,
      publicUrl: 'https://api.crownwheel.test',
      versions: VERSIONS,
      onEvents: () => {},
    };
    const id = await createItem(
      channel,
      TESTER,
      integration.organization_id,
      part({ units: STOCK_UNITS, stockNumber: 'KILL' }),
    );
    await setPublished(channel, TESTER, integration.organization_id, integration.id, [id], true);
    return id;
  });
}

/** Each order once, one unit of stock held for each, and no record without its order. */
async function assertStoredOnce(dataDir: string, partId: string, reports: Report[]): Promise<void> {
  const [row] = await withDatabase(dataDir, (db) =>
    db.query(sql`
      select (select count(*) from orders where channel_order_id like 'SO-%') as orders,
        (select count(distinct channel_order_id) from orders where channel_order_id like 'SO-%') as names,
        (select count(*) from order_lines where item_id = ${partId} and is_holding) as lines,
        (select reserved_units from items where id = ${partId}) as held,
        (select count(*) from idempotency_records) as records,
        (select count(*) from customers where email = 'a@b.ch') as customers`),
  );
  const count = reports.length;
  assert.deepEqual(row, { orders: count, names: count, lines: count, held: count, records: count, customers: 1 });
}

async function withDatabase<Result>(dataDir: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const db = databaseIn(dataDir);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
