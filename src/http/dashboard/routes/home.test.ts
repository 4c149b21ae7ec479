import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../../test/harness/actor.ts';
import { signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { addShop } from '../../../../test/harness/shop.ts';
import { part, publishNew, watch } from '../../../../test/harness/stock.ts';
import {
  connectReceiver,
  ping,
  startTestWorker,
  type TestWorker,
} from '../../../../test/harness/webhooks/webhook-world.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { pruneActivity } from '../../../activity/activity-counts.ts';
import { sql } from '../../../db/sql.ts';
import { changeOrganization } from '../../../dealers/organization-settings.ts';
import { confirmOrder } from '../../../sales/orders/order-operations.ts';
import { changeSale, sellUnits, voidSale } from '../../../sales/sell.ts';

const WAIT_LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;
const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);

describe('the activity on the home page', () => {
  let world: World;
  let owner: Awaited<ReturnType<typeof signedIn>>;
  before(async () => {
    world = await startWorld({ requestLogLimits: { batchMs: 20 } });
    owner = await signedIn(world);
  });
  after(() => world.stop());

  async function activity(client = owner, range = '24h') {
    const answer = await client.call('GET', `/activity?range=${range}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }
  async function until(assertion: () => Promise<void>): Promise<void> {
    const end = Date.now() + WAIT_LIMIT_MS;
    for (;;) {
      try {
        return await assertion();
      } catch (error) {
        if (Date.now() > end) throw error;
        await sleep(20);
      }
    }
  }

  it('counts reported orders once, however often they are sent, and those of test mode never', async () => {
    const shop = await addShop(world, owner);
    const staging = await addShop(world, owner, { isTestMode: true });
    const before = await activity();
    const key = { 'idempotency-key': 'SO-1' };
    await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    await shop.api.post('/v1/orders', { channel_order_id: 'SO-1' }, key);
    await shop.post('/v1/orders', { channel_order_id: 'SO-1' });
    await shop.post('/v1/orders', { channel_order_id: 'SO-2' });
    await staging.post('/v1/orders', { channel_order_id: 'SO-3' });
    const now = await activity();
    assert.equal(total(now.orders) - total(before.orders), 2);
    assert.equal(now.starts.length, 24);
    const stranger = await signedIn(world);
    assert.equal(total((await activity(stranger)).orders), 0);
  });

  it('counts sales by currency in the hour of the sale, and takes back what is corrected or voided', async () => {
    const shop = await addShop(world, owner, { currency: 'EUR' });
    const { organizationId } = owner;
    const [first, second] = [await publishNew(world, shop, watch()), await publishNew(world, shop, watch())];
    const order = await shop.post('/v1/orders', {
      channel_order_id: 'SO-9',
      lines: [{ listing_id: first, unit_amount: 250_000 }],
    });
    await confirmOrder(world.channel, TESTER, organizationId, order.body.id);
    const saleId = await sellUnits(world.channel, TESTER, organizationId, second, 1, { amount: 900_000 });
    const amountsOf = async () => {
      const { amounts } = await activity();
      return Object.fromEntries(
        amounts.map((one: { currency: string; values: number[] }) => [one.currency, total(one.values)]),
      );
    };
    const own = (await owner.call('GET', '/session')).body.organization.currency;
    assert.deepEqual(await amountsOf(), { EUR: 250_000, [own]: 900_000 });
    await changeSale(world.channel, TESTER, organizationId, saleId, { amount: 800_000 });
    assert.deepEqual(await amountsOf(), { EUR: 250_000, [own]: 800_000 });
    await voidSale(world.channel, TESTER, organizationId, saleId);
    assert.deepEqual(await amountsOf(), { EUR: 250_000 });
    assert.equal(total((await activity()).sales), 1);
  });

  it('counts API requests, also those that the log leaves out, and their errors', async () => {
    const person = await signedIn(world);
    const shop = await addShop(world, person);
    for (let read = 0; read < 3; read++) await shop.api.get('/v1/me');
    await shop.api.get('/v1/orders/ord_unknown');
    await until(async () => {
      const { requests, request_errors: errors } = await activity(person);
      assert.deepEqual([total(requests), total(errors)], [4, 1]);
    });
  });

  it('counts attempts to deliver, with dead letters and endpoints that are switched off', async (t) => {
    const person = await signedIn(world);
    const shop = await addShop(world, person);
    const receiver = await connectReceiver(world, shop);
    const worker: TestWorker = startTestWorker(world, {});
    t.after(async () => {
      await worker.stop();
      await receiver.stop();
    });
    await ping(shop);
    await receiver.until(1);
    await worker.settled();
    receiver.answerWith(500);
    await ping(shop);
    await receiver.until(2);
    await until(async () => {
      const { attempts_succeeded: succeeded, attempts_failed: failed } = await activity(person);
      assert.deepEqual([total(succeeded), total(failed)], [1, 1]);
    });
    const countOf = async (kind: string) => {
      const rows = await world.db.query<{ count: number }>(sql`
        select sum(count)::integer as count from activity_counts
        where integration_id = ${shop.integrationId} and kind = ${kind}`);
      return rows[0]?.count;
    };
    await worker.settled();
    // The last of its eight attempts.
    await world.db.query(sql`
      update deliveries set attempts = 7, due_at = now() where integration_id = ${shop.integrationId} and status = 'failed'`);
    worker.wake();
    await until(async () => assert.equal(await countOf('dead_letters'), 1));
    receiver.answerWith(410);
    for (let gone = 0; gone < 5; gone++) await ping(shop);
    worker.wake();
    await until(async () => assert.equal(await countOf('webhooks_off'), 1));
  });

  it('begins days at midnight of the dealer’s time zone', async () => {
    const person = await signedIn(world);
    await changeOrganization(world.channel, TESTER, person.organizationId, { timeZone: 'America/New_York' });
    const { starts, time_zone: zone } = await activity(person, '7d');
    assert.deepEqual([starts.length, zone], [7, 'America/New_York']);
    for (const start of starts) {
      const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', timeZone: zone, hour12: false });
      assert.equal(hour.format(new Date(start)).replace('24', '00'), '00');
    }
    assert.equal((await person.call('GET', '/activity?range=2y')).status, 400);
  });

  it('is kept for 90 days', async () => {
    const counted = await world.db.query(sql`select 1 from activity_counts limit 1`);
    assert.equal(counted.length, 1);
    assert.equal(await pruneActivity(world.db, new Date(Date.now() + 89 * DAY_MS)), 0);
    while ((await pruneActivity(world.db, new Date(Date.now() + 92 * DAY_MS))) > 0);
    assert.deepEqual(await world.db.query(sql`select 1 from activity_counts limit 1`), []);
    assert.deepEqual(await world.db.query(sql`select 1 from sales_counts limit 1`), []);
  });

  it('shows what the stock is worth by its age', async () => {
    const person = await signedIn(world);
    const shop = await addShop(world, person);
    await publishNew(world, shop, watch({ priceAmount: 500_000 }));
    await publishNew(world, shop, watch({ priceAmount: null }));
    const { status, body } = await person.call('GET', '/stock-value');
    assert.equal(status, 200);
    assert.deepEqual(body.ages[0], { from_days: 0, items: 2, amount: 500_000, unpriced: 1 });
    assert.deepEqual(
      body.ages.map((age: { from_days: number }) => age.from_days),
      [0, 31, 91, 181],
    );
  });

  it('shows the largest amount of all where prices add up to more', async () => {
    const person = await signedIn(world);
    const shop = await addShop(world, person);
    const dear = { units: 1_000_000, priceAmount: 1_000_000_000_000 };
    const parts: string[] = [];
    for (let index = 0; index < 10; index++) parts.push(await publishNew(world, shop, part(dear)));
    for (const id of ['SO-20', 'SO-21']) {
      const lines = [{ part_id: parts[0], quantity: 10_000, unit_amount: 900_000_000_000 }];
      const { body, text } = await shop.post('/v1/orders', { channel_order_id: id, currency: 'EUR', lines });
      assert.ok(body.id, text);
      await confirmOrder(world.channel, TESTER, person.organizationId, body.id);
    }
    const stock = await person.call('GET', '/stock-value');
    assert.equal(stock.status, 200, stock.text);
    assert.equal(stock.body.ages[0].amount, Number.MAX_SAFE_INTEGER);
    const [euros] = (await activity(person)).amounts;
    assert.deepEqual([euros.currency, Math.max(...euros.values)], ['EUR', Number.MAX_SAFE_INTEGER]);
    const sales = await person.call('GET', '/sales/choices');
    assert.equal(sales.status, 200, sales.text);
    assert.deepEqual(sales.body.totals, [{ amount: Number.MAX_SAFE_INTEGER, currency: 'EUR' }]);
  });
});
