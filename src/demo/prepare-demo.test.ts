import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import sharp from 'sharp';
import type { ApiClient } from '../../test/harness/http/api-client.ts';
import { PUBLIC_URL, startWorld, type World } from '../../test/harness/world.ts';
import { enqueueJob } from '../channel/jobs/channel-job-queue.ts';
import { runJobs } from '../channel/jobs/run-jobs.ts';
import { sql } from '../db/sql.ts';
import { readDealerOrder } from '../sales/orders/dealer/order-details.ts';
import { DEMO_EMAIL, type DemoFile, readDemoFile, writeDemoFile } from './demo-file.ts';
import { HIDDEN, LIVE_ONLY, NEVER_PUBLISHED, RESERVED, SOLD, TAKEN_OFF } from './plan.ts';
import { type Demo, type DemoOptions, prepareDemo } from './prepare-demo.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on whatever the server really sent.
type Document = any;

describe('the demo', () => {
  let world: World;
  let options: DemoOptions;
  let demo: Demo;
  let live: ApiClient;
  let staging: ApiClient;

  before(async () => {
    world = await startWorld();
    const dataDir = await mkdtemp(join(tmpdir(), 'crownwheel-demo-'));
    options = { liveKey: null, dataDir, photoFiles: world.photoFiles, onNotice: () => {} };
    // The disk is full in the middle of it: nothing of it may stay, and the next start begins anew.
    let room = 20;
    const full = async (...args: Parameters<typeof world.photoFiles.write>) => {
      room -= 1;
      if (room < 0) throw new Error('no space left');
      await world.photoFiles.write(...args);
    };
    await assert.rejects(prepareDemo(world.channel, { ...options, photoFiles: { ...world.photoFiles, write: full } }), {
      message: 'no space left',
    });
    assert.deepEqual(await world.db.query(sql`select id from organizations union all select id from items`), []);
    demo = (await prepareDemo(world.channel, options)) as Demo;
    live = world.client(demo.liveKey);
    staging = world.client(demo.testKey);
  });
  after(async () => {
    await world.stop();
    await rm(options.dataDir ?? '', { recursive: true, force: true });
  });

  /** All pages; each is held against the contract by the client. */
  async function all(api: ApiClient, path: string): Promise<Document[]> {
    const documents: Document[] = [];
    let after = '';
    do {
      const { status, body } = await api.get(`${path}&limit=50${after === '' ? '' : `&after=${after}`}`);
      assert.equal(status, 200);
      documents.push(...body.data);
      after = body.next_cursor ?? '';
    } while (after !== '');
    return documents;
  }

  it('has at least 60 watches and 25 parts for sale on both channels', async () => {
    for (const api of [live, staging]) {
      assert.ok((await all(api, '/v1/listings?status=active')).length >= 60);
      assert.ok((await all(api, '/v1/parts?status=active')).length >= 25);
    }
  });

  it('fills every field of every document', async () => {
    const documents = [...(await all(live, '/v1/listings?status=any')), ...(await all(live, '/v1/parts?status=any'))];
    for (const document of documents) {
      const { promotion: _, ...fields } = document;
      assertFilled(fields, document.title);
      const isWatch = document.object === 'listing';
      assert.equal(document.photos.length, isWatch ? 2 : 1, document.title);
      assert.ok(document.description_paragraphs.length >= 2, document.title);
      assert.ok(!document.description.includes('||'), document.title);
      assert.ok(document.created_at < document.published_at, document.title);
    }
    const names = new Set(documents.map((document) => document.title));
    assert.ok(names.size >= documents.length - 3, 'they are different things');
    assert.ok(new Set(documents.map((document) => document.watch?.brand)).size >= 20);
    assert.equal(new Set(documents.map((document) => JSON.stringify(document.location))).size, 4);
  });

  it('shows every status, and leaves out what was never published', async () => {
    const documents = await all(live, '/v1/listings?status=any');
    const statusOf = new Map(documents.map((document) => [document.watch.reference_number, document.status]));
    const parts = await all(live, '/v1/parts?status=any');
    for (const document of parts) statusOf.set(document.part_number, document.status);
    const expected: [string[], string[]][] = [
      [SOLD, ['sold', 'sold_out']],
      [RESERVED, ['reserved']],
      [[...HIDDEN, ...TAKEN_OFF], ['unpublished']],
      [LIVE_ONLY, ['active']],
    ];
    for (const [references, statuses] of expected) {
      for (const reference of references) assert.ok(statuses.includes(statusOf.get(reference)), reference);
    }
    for (const reference of NEVER_PUBLISHED) assert.equal(statusOf.has(reference), false, reference);
    const onStaging = await all(staging, '/v1/listings?status=any');
    assert.ok(onStaging.every((document) => !LIVE_ONLY.includes(document.watch.reference_number)));
    assert.ok(documents.some((document) => document.quantity > 1));
  });

  it('prices one channel with markup and rounding, the other in another currency', async () => {
    const [watch] = (await all(live, '/v1/listings?status=active')).filter(
      (document) => document.watch.reference_number === '126610LN',
    );
    // 12,900 and 2.5 % are 13,222.50.
    assert.deepEqual(watch.price, { amount: 1_322_000, amount_formatted: 'CHF\u00a013,220.00', currency: 'CHF' });
    const other = (await staging.get(`/v1/listings/${watch.id}`)).body;
    assert.deepEqual(other.price, { amount: 1_601_922, amount_formatted: '$16,019.22', currency: 'USD' });
    assert.ok(watch.photos[0].url.endsWith('.jpg') && other.photos[0].url.endsWith('.webp'));
    assert.equal(watch.dealer.address.city, 'Geneva');
    const dealers = await world.db.query(sql`select time_zone as zone from organizations`);
    assert.deepEqual(dealers, [{ zone: 'Europe/Zurich' }]);
  });

  it('runs promotions, some with an end, and has planned one', async () => {
    const documents = [
      ...(await all(live, '/v1/listings?status=active')),
      ...(await all(live, '/v1/parts?status=active')),
    ];
    const running = documents.filter((document) => document.promotion !== null);
    assert.ok(running.length >= 6);
    assert.ok(running.some((document) => document.promotion.ends_at === null));
    assert.ok(running.some((document) => document.promotion.ends_at > new Date().toISOString()));
    assert.ok(running.every((document) => document.price.amount < document.promotion.regular_amount));
    const planned = await world.db.query(sql`select id from promotions where starts_at > now()`);
    assert.equal(planned.length, 1);
  });

  it('has orders in every status, of the past weeks, and a queue with every reason why a line has no item', async () => {
    const orders = await all(live, '/v1/orders?status=any');
    for (const status of ['received', 'matched', 'fulfilled', 'cancelled']) {
      assert.ok(orders.filter((order) => order.status === status).length >= 2, status);
    }
    assert.ok(orders.every((order) => order.total_amount > 0 && order.customer !== null));
    assert.ok(
      orders.some((order) => order.customer_id === null),
      'the buyer of one is two people',
    );
    const ages = orders.map((order) => Date.now() - new Date(order.created_at).getTime()).sort((a, b) => b - a);
    assert.ok((ages[0] ?? 0) > 20 * 86_400_000 && (ages.at(-1) ?? 0) < 86_400_000);
    assert.ok((await all(staging, '/v1/orders?status=any')).every((order) => order.is_test));
    const reasons = new Set<string>();
    for (const { id } of orders.filter((order) => order.status === 'received')) {
      const [row] = await world.db.query<{ organization_id: string }>(sql`
        select organization_id from orders where id = ${id}`);
      const { unmatched } = await readDealerOrder(world.db, row?.organization_id ?? '', id);
      for (const { reason } of unmatched.values()) reasons.add(reason);
    }
    assert.deepEqual([...reasons].sort(), ['sold', 'too_few', 'unknown', 'unnamed']);
  });

  it('has webhooks that arrived, one that arrived late, one that was given up, and events that were not sent', async () => {
    const deliveries = await world.db.query<{ status: string; attempts: number; failed: number }>(sql`
      select d.status, d.attempts, (select count(*) from delivery_attempts a where a.delivery_id = d.id) as failed
      from deliveries d order by d.attempts`);
    const counts = deliveries.map(({ status, attempts, failed }) => `${status} ${attempts} ${failed}`);
    assert.ok(counts.filter((count) => count === 'succeeded 1 0').length >= 3, counts.join());
    assert.deepEqual(
      counts.filter((count) => count !== 'succeeded 1 0'),
      ['succeeded 3 2', 'dead_letter 8 8'],
    );
    const counted = await world.db.query<{ attempts: number }>(sql`
      select sum(count)::integer as attempts from activity_counts where kind in ('attempts_succeeded', 'attempts_failed')`);
    assert.equal(
      counted[0]?.attempts,
      deliveries.reduce((sum, { attempts }) => sum + attempts, 0),
      'the home page plots them',
    );
    const [latest] = await world.db.query<{ success: Date; failure: Date }>(sql`
      select (select max(last_attempt_at) from deliveries where status = 'succeeded') as success,
        (select max(ended_at) from delivery_attempts) as failure`);
    const { webhook } = (await live.get('/v1/me')).body;
    assert.deepEqual(
      [webhook.last_success_at, webhook.last_failure_at],
      [latest?.success.toISOString(), latest?.failure.toISOString()],
    );
    const [recent] = await world.db.query<{ given_up: number }>(sql`
      select sum(count)::integer as given_up from activity_counts
      where kind = 'dead_letters' and hour > now() - interval '6 days'`);
    assert.equal(recent?.given_up, 1, 'the home page counts it in the last 7 days, and warns of it');
    const reasons = await world.db.query<{ reason: string }>(sql`
      select distinct unsent_reason as reason from events where unsent_reason is not null order by 1`);
    assert.deepEqual(
      reasons.map(({ reason }) => reason),
      ['echo', 'no_url'],
    );
    const late = await world.db.query(sql`select id from deliveries where last_attempt_at > now()`);
    assert.deepEqual(late, []);
    const urls = await world.db.query(sql`select integration_id from webhook_endpoints where url is not null`);
    assert.deepEqual(urls, [], 'nothing is sent');
  });

  it('draws photos and thumbnails when they are asked for', async () => {
    const [watch] = await all(live, '/v1/listings?status=active');
    const [part] = await all(staging, '/v1/parts?status=active');
    for (const [url, side] of [
      [watch.photos[0].url, 1200],
      [watch.photos[1].thumbnail_url, 480],
      [part.photos[0].thumbnail_url, 480],
    ]) {
      const response = await fetch(url.replace(PUBLIC_URL, world.origin));
      assert.equal(response.status, 200);
      const picture = sharp(Buffer.from(await response.arrayBuffer()));
      const { width, height } = await picture.metadata();
      assert.deepEqual([width, height], [side, side]);
      // A picture with something on it, not one plain colour.
      const { channels } = await picture.stats();
      assert.ok(channels.every((channel) => channel.stdev > 15));
    }
  });

  it('leaves no work behind: projecting everything anew changes nothing and announces nothing', async () => {
    assert.deepEqual(await world.db.query(sql`select id from channel_jobs`), []);
    const count = async () => (await world.db.query<{ count: number }>(sql`select count(*) from events`))[0]?.count;
    const before = await count();
    const integrations = await world.db.query<{ id: string }>(sql`select id from integrations`);
    await enqueueJob(
      world.db,
      'refresh',
      integrations.map((row) => row.id),
      'test',
    );
    assert.ok((await runJobs(world.channel)) > 150);
    assert.equal(await count(), before);
  });

  it('is found again by the next start, with the same keys', async () => {
    const counted = sql`select (select count(*) from items) as items, (select count(*) from photos) as photos`;
    const before = await world.db.query(counted);
    assert.deepEqual(await prepareDemo(world.channel, options), { ...demo, isNew: false });
    assert.deepEqual(await world.db.query(counted), before);
  });

  it('shows the password as long as it opens the account, and checks it only if another hash was noted', async () => {
    const dataDir = options.dataDir ?? '';
    const file = readDemoFile(dataDir) as DemoFile;
    const { password_hash: noted = '', ...ofEarlierRelease } = file;
    const shown = async (found: DemoFile) => {
      writeDemoFile(dataDir, found);
      return (await prepareDemo(world.channel, options))?.password;
    };
    const setHash = (hash: string) =>
      world.db.query(sql`
        update accounts set password = ${hash} where user_id = (select id from users where email = ${DEMO_EMAIL})`);
    assert.equal(await verifyPassword({ hash: noted, password: file.password }), true);
    assert.equal(await shown(ofEarlierRelease), file.password);
    assert.deepEqual(readDemoFile(dataDir), file, 'what was checked is noted');

    const again = await hashPassword(file.password);
    await setHash(again);
    assert.equal(await shown(file), file.password);
    assert.equal(readDemoFile(dataDir)?.password_hash, again);

    const other = await hashPassword('another password');
    await setHash(other);
    assert.equal(await shown(file), null);
    assert.equal(await shown(ofEarlierRelease), null);
    assert.deepEqual(readDemoFile(dataDir), ofEarlierRelease, 'what opens nothing is not noted');
    assert.equal(
      await shown({ ...file, password_hash: other }),
      file.password,
      'the hash that was noted is not checked',
    );
    await setHash(noted);
  });
});

function assertFilled(value: unknown, place: string): void {
  assert.notEqual(value, null, place);
  assert.notEqual(value, '', place);
  if (typeof value !== 'object' || value === null) return;
  const entries = Object.entries(value);
  assert.ok(entries.length > 0, place);
  for (const [name, inner] of entries) assertFilled(inner, `${place} ${name}`);
}
