import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import sharp from 'sharp';
import { type DashboardAnswer, dashboardClient, signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { runJobs } from '../../../../test/harness/jobs/stock-jobs.ts';
import { addShop, freshKey, type Shop } from '../../../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { COMMAND_LINE } from '../../../audit/actor.ts';
import { runJobs as runChannelJobs } from '../../../channel/jobs/run-jobs.ts';
import type { DashboardOperation } from '../../../contract/dashboard/operation.ts';
import { DASHBOARD_OPERATIONS } from '../../../contract/dashboard/operations.ts';
import { BYTES_PER_MB } from '../../../contract/limits.ts';
import { openDatabase } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { setOrganizationStorageQuota } from '../../../dealers/organizations.ts';
import { createItem } from '../../../inventory/items/item-operations.ts';
import { pruneDealerStorageUsage, raiseStorageUsage } from '../../../quota/storage-usage.ts';

const QUOTA_MB = 5;
const QUOTA_BYTES = QUOTA_MB * BYTES_PER_MB;

type Person = Awaited<ReturnType<typeof signedIn>>;

describe('the storage quota of a dealer', () => {
  let world: World;
  let owner: Person;
  let shop: Shop;
  before(async () => {
    world = await startWorld({ dashboardStorageQuotaMbPerDay: QUOTA_MB });
  });
  beforeEach(async () => {
    owner = await signedIn(world);
    shop = await addShop(world, owner);
  });
  after(() => world.stop());

  const stored = async (organizationId = owner.organizationId) => {
    const [row] = await world.db.query<{ bytes: number }>(sql`
      select coalesce(sum(bytes), 0)::bigint as bytes from organization_storage_usage
      where organization_id = ${organizationId}`);
    return row?.bytes ?? 0;
  };
  /** How many bytes some work adds to the count. */
  const counted = async (work: () => Promise<unknown>) => {
    const before = await stored();
    await work();
    return (await stored()) - before;
  };
  const use = (bytes: number, person = owner) =>
    world.db.query(raiseStorageUsage(person.organizationId, bytes, world.channel.now()));
  const view = (name: string) => ({ list: 'watches', name, query: '', is_shared: false });
  const save = (name: string, person = owner) => person.call('POST', '/views', view(name));
  const assertRefused = ({ status, body }: DashboardAnswer, what = '') =>
    assert.deepEqual([status, body?.error?.code], [429, 'storage_quota_exceeded'], what);
  const upload = async (path: string, body: Buffer | string) => {
    const response = await fetch(`${world.origin}/api/dashboard${path}`, {
      method: 'POST',
      headers: {
        origin: world.channel.publicUrl,
        cookie: owner.cookie(),
        'content-type': 'application/octet-stream',
      },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    });
    return { status: response.status, body: (await response.json()) as { id: string } };
  };

  it('counts what a change stores and not what it sends: the event and document of each channel', async () => {
    const description = 'é'.repeat(10_000);
    const itemId = await publishNew(world, shop, watch({ description }));
    const [{ revision = 0 } = {}] = await world.db.query<{ revision: number }>(sql`
      select revision from items where id = ${itemId}`);
    const edit = { revision, price_amount: 1_000_000 };
    const bytes = await counted(async () => {
      assert.equal((await owner.call('PATCH', `/items/${itemId}`, edit)).status, 200);
    });
    // The event and the document have the description.
    assert.ok(bytes > 4 * description.length, String(bytes));
    assert.equal(await counted(() => owner.call('GET', `/items/${itemId}`)), 0);
    const refused = await counted(async () => {
      assert.equal((await owner.call('PATCH', `/items/${itemId}`, edit)).body.error.code, 'changed_meanwhile');
    });
    assert.equal(refused, 0);
  });

  it('counts a photo as it is stored, once, and the variants that are made of it', async () => {
    const itemId = await publishNew(world, shop, watch());
    const noise = { width: 600, height: 400, channels: 3, noise: { type: 'gaussian', mean: 128, sigma: 50 } } as const;
    const picture = await sharp({ create: { ...noise, background: 'red' } })
      .jpeg({ quality: 95 })
      .toBuffer();
    let id = '';
    const bytes = await counted(async () => {
      const { status, body } = await upload(`/items/${itemId}/photos`, picture);
      assert.equal(status, 200);
      id = body.id;
    });
    const size = (await world.photoFiles.stat(id, 'original.jpg'))?.size ?? 0;
    assert.ok(bytes > size && bytes < size + 50_000, `${bytes} for a photo of ${size}`);
    const variant = await counted(async () => {
      assert.equal((await fetch(`${world.origin}/photos/${id}.webp`)).status, 200);
    });
    assert.equal(variant, (await world.photoFiles.stat(id, 'full.webp'))?.size);
  });

  it('refuses with a sentence, and with the time until midnight UTC by the clock of the database', async () => {
    const noon = Date.parse('2026-06-01T12:00:00.400Z');
    world.setTime(new Date(noon));
    try {
      await use(QUOTA_BYTES);
      const refused = await save('A view');
      assertRefused(refused);
      const { message } = refused.body.error;
      assert.match(message, /^Your business has stored the 5 MB that it may store in a day\. /);
      assert.match(message, /from 2026-06-02 00:00 UTC, or ask the operator/);
      assert.equal(refused.headers.get('retry-after'), String(12 * 60 * 60));
      world.setTime(new Date(noon + (12 * 60 * 60 - 1) * 1_000));
      assertRefused(await save('A view'));
      world.setTime(new Date(noon + 12 * 60 * 60 * 1_000));
      assert.equal((await save('A view')).status, 200);
    } finally {
      world.setTime(null);
    }
  });

  it('refuses an upload before its body is read', async () => {
    const itemId = await publishNew(world, shop, watch());
    await use(QUOTA_BYTES);
    for (const path of [`/items/${itemId}/photos`, '/imports?kind=listing']) {
      const { port } = world;
      const status = await new Promise((resolve, reject) => {
        const sending = httpRequest({
          port,
          method: 'POST',
          path: `/api/dashboard${path}`,
          headers: {
            origin: world.channel.publicUrl,
            cookie: owner.cookie(),
            'content-type': 'application/octet-stream',
            'content-length': 10 * BYTES_PER_MB,
          },
        });
        sending.on('response', (response) => {
          resolve(response.statusCode);
          sending.destroy();
        });
        sending.on('error', reject);
        // Not a byte of the body is ever sent.
        sending.flushHeaders();
      });
      assert.equal(status, 429, path);
    }
  });

  it('decides for each operation alike, whatever its handler does', async () => {
    const changing = (Object.entries(DASHBOARD_OPERATIONS) as [string, DashboardOperation][]).filter(
      ([id, { method, access }]) => method !== 'GET' && access !== 'public' && id !== 'signOut',
    );
    const refusedOf = async () => {
      const refused: string[] = [];
      for (const [id, { method, path, body, isUpload }] of changing) {
        const filled = path.replaceAll(/\{\w+\}/g, 'none');
        const answer = await owner.call(method, filled, body === null || isUpload ? undefined : {});
        if (answer.status === 429) refused.push(id);
        else assert.ok(answer.status < 500, `${id}: ${answer.text}`);
      }
      return refused;
    };
    const named = (...kinds: string[]) =>
      changing.filter(([, { overQuota }]) => kinds.includes(overQuota)).map(([id]) => id);
    await use(QUOTA_BYTES);
    assert.deepEqual(await refusedOf(), named('refused'));
    await use(QUOTA_BYTES);
    assert.deepEqual(await refusedOf(), named('refused', 'reserve'));
    assert.ok(named('served').length > 20);
    assert.equal((await owner.call('DELETE', '/session')).status, 204);
  });

  it('never keeps orders from being fulfilled, dismissed or cancelled, and lets the shop sell from the reserve', async () => {
    const item = await publishNew(world, shop, part({ units: 9 }));
    const report = async () => {
      const { body } = await shop.post('/v1/orders', {
        channel_order_id: freshKey()['idempotency-key'],
        lines: [{ part_id: item, title: 'A part', unit_amount: 100 }],
        currency: 'USD',
      });
      return { path: `/orders/${body.id}`, lineId: body.lines[0].id };
    };
    const [fulfilled, dismissed, cancelled] = [await report(), await report(), await report()];
    await use(QUOTA_BYTES);
    const match = { line_id: fulfilled.lineId, item_id: item };
    assert.equal((await owner.call('POST', `${fulfilled.path}/match`, match)).status, 204);
    const sale = { item_id: item, units: 1, amount: null, customer_id: null };
    assert.equal((await owner.call('POST', '/sales', sale)).status, 200);
    await use(QUOTA_BYTES);
    assertRefused(await owner.call('POST', '/sales', sale));
    const steps = [
      `${fulfilled.path}/confirm`,
      `${fulfilled.path}/fulfil`,
      `${cancelled.path}/confirm`,
      `${cancelled.path}/cancel-sale`,
    ];
    for (const path of steps) assert.equal((await owner.call('POST', path)).status, 204, path);
    const { status } = await owner.call('POST', `${dismissed.path}/dismiss`, { reason: null });
    assert.equal(status, 204);
    assert.equal((await owner.call('DELETE', `/items/${item}`)).status, 204);
  });

  it('is each dealer’s own, and counted exactly when two nodes store at the same time', async (t) => {
    const { address } = world.database;
    const db = openDatabase({ address, poolSize: 4, onIdleError: () => {} });
    const node = await startWorld({
      database: { db, address, drop: () => db.close() },
      dashboardStorageQuotaMbPerDay: QUOTA_MB,
    });
    t.after(() => node.stop());
    const elsewhere = { ...owner, ...dashboardClient(node) };
    await elsewhere.signIn(owner.email);
    const one = await counted(() => save('View 0'));
    assert.ok(one > 0);
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
    const together = await counted(() =>
      Promise.all(numbers.map((number) => save(`View ${number}`, number % 2 === 0 ? owner : elsewhere))),
    );
    assert.equal(together, numbers.length * one);
    await use(QUOTA_BYTES);
    assertRefused(await save('View 9', elsewhere));
    assert.equal((await save('Mine', await signedIn(world))).status, 200);
  });

  it('of one dealer is raised by the operator, from the next request on', async () => {
    await use(QUOTA_BYTES);
    assertRefused(await save('A view'));
    await setOrganizationStorageQuota(world.db, COMMAND_LINE, owner.organizationId, QUOTA_MB + 1);
    assert.equal((await save('A view')).status, 200);
    await setOrganizationStorageQuota(world.db, COMMAND_LINE, owner.organizationId, null);
    assertRefused(await save('Another'));
  });

  it('counts what jobs store, ends those that would store more, and lets deletions go on', async () => {
    const ids = await Promise.all(
      [1, 2].map(() => createItem(world.channel, COMMAND_LINE, owner.organizationId, watch())),
    );
    const change = { item_ids: ids, action: 'change_price', price: { basis_points: 100 } };
    const start = async (path: string, body: object) => (await owner.call('POST', path, body)).body.job_id;
    const run = () => runJobs(world, { context: { dashboardStorageQuotaMbPerDay: QUOTA_MB } });
    const jobOf = async (id: string) => (await owner.call('GET', `/jobs/${id}`)).body.job;
    const first = await start('/stock/bulk', change);
    assert.ok((await counted(run)) > 1_000);
    assert.equal((await jobOf(first)).status, 'done');
    const late = await start('/stock/bulk', change);
    await use(QUOTA_BYTES);
    await run();
    const failed = await jobOf(late);
    assert.equal(failed.status, 'failed');
    assert.match(failed.error, /^Your business has stored the 5 MB/);
    const undo = (await owner.call('POST', `/jobs/${first}/undo`)).body.job_id;
    await run();
    assert.equal((await jobOf(undo)).status, 'done');
    const gone = await start('/stock/bulk/delete', { item_ids: ids, count: 2 });
    await run();
    assert.equal((await jobOf(gone)).status, 'done');
  });

  it('counts what a setting of the dealer makes a channel render again', async () => {
    const description = 'x'.repeat(10_000);
    for (let count = 0; count < 3; count++) await publishNew(world, shop, watch({ description }));
    const unit = (await owner.call('POST', '/business-units', { name: 'Shop' })).body.id;
    const { id } = (await owner.call('POST', `/business-units/${unit}/locations`, { name: 'Window' })).body;
    await world.db.query(sql`update items set location_id = ${id} where organization_id = ${owner.organizationId}`);
    await runChannelJobs(world.channel);
    assert.equal((await owner.call('PATCH', `/locations/${id}`, { name: 'Vault' })).status, 204);
    const bytes = await counted(() => runChannelJobs(world.channel));
    assert.ok(bytes > 3 * description.length, String(bytes));
  });

  it('counts a promotion’s events when it is planned, and the attempts of what is sent again', async () => {
    const itemId = await publishNew(world, shop, watch());
    const promotion = { price_amount: 1_000, starts_at: '2099-01-01T00:00:00Z', ends_at: null };
    const planned = await counted(async () => {
      assert.equal((await owner.call('POST', `/items/${itemId}/promotions`, promotion)).status, 200);
    });
    assert.ok(planned > 2 * 65_536, String(planned));
    await owner.call('PUT', `/integrations/${shop.integrationId}/webhook/url`, { url: 'http://127.0.0.1:9/' });
    const event = await counted(async () => {
      assert.equal((await owner.call('POST', `/integrations/${shop.integrationId}/test-event`)).status, 200);
    });
    assert.ok(event > 8 * 1_024, String(event));
  });

  it('forgets the counts of days long past', async () => {
    await save('A view');
    await pruneDealerStorageUsage(world.db, null);
    assert.ok((await stored()) > 0);
    await pruneDealerStorageUsage(world.db, new Date(Date.now() + 40 * 24 * 60 * 60 * 1_000));
    assert.equal(await stored(), 0);
  });
});
