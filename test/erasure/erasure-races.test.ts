import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../src/db/sql.ts';
import { unnestRows } from '../../src/db/values/unnest-rows.ts';
import { newId } from '../../src/ids/new-id.ts';
import { mergeCustomers } from '../../src/sales/customers/merge-customers.ts';
import { eraseCustomer } from '../../src/sales/erasure/erase-customer.ts';
import { runErasures } from '../../src/sales/erasure/run-erasures.ts';
import type { DeletionOrder } from '../deletion/deletion-process.ts';
import { TESTER } from '../harness/actor.ts';
import { changing, until } from '../harness/database/locks.ts';
import { assertRefused } from '../harness/refusal.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { startWorld, type World } from '../harness/world.ts';
import { ROOT_DIR } from '../service/service-process.ts';
import { searchDatabase } from './database-search.ts';

describe('an erasure beside other work', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const run = () => runErasures(world.channel, undefined, { pauseMs: 0, settleMs: 0 });
  const erase = (shop: Shop, customerId: string) =>
    eraseCustomer(world.channel, TESTER, shop.organizationId, customerId);
  const orderOf = async (shop: Shop, email: string, changes: object = {}) => {
    const body = { channel_order_id: newId('order'), customer: { email }, lines: [{ title: 'A watch' }], ...changes };
    const answer = await shop.post('/v1/orders', body);
    assert.equal(answer.status, 201);
    return answer.body;
  };
  const read = async (shop: Shop, id: string) => (await shop.api.get(`/v1/orders/${id}`)).body;

  it('leaves alone what the same person orders after it was asked for, and what others ordered', async () => {
    const shop = await openShop(world);
    const before = await orderOf(shop, 'again@erased.example');
    const other = await orderOf(shop, 'drag@again.example', { customer: { email: 'me-again@erased.example' } });
    await erase(shop, before.customer_id);
    const later = await orderOf(shop, 'again@erased.example');
    assert.notEqual(later.customer_id, before.customer_id);
    await run();
    assert.equal((await read(shop, before.id)).customer, null);
    assert.deepEqual(await read(shop, later.id), later);
    assert.deepEqual(await read(shop, other.id), other);
  });

  it('does not take a person along whose order the dealer gave to the customer', async () => {
    const shop = await openShop(world);
    const kept = await orderOf(shop, 'kept@erased.example');
    const given = await orderOf(shop, 'kept@erased.example');
    const erased = await orderOf(shop, 'giver@erased.example');
    await world.db.query(sql`update orders set customer_id = ${erased.customer_id} where id = ${given.id}`);
    await erase(shop, erased.customer_id);
    await run();
    assert.equal((await read(shop, given.id)).customer, null);
    assert.deepEqual(await read(shop, kept.id), kept);
  });

  it('refuses to merge a customer that is being erased, either way', async () => {
    const shop = await openShop(world);
    const [one, two] = [await orderOf(shop, 'one@erased.example'), await orderOf(shop, 'two@erased.example')];
    await erase(shop, one.customer_id);
    const merge = (keptId: string, mergedId: string) =>
      mergeCustomers(world.channel, TESTER, shop.organizationId, keptId, mergedId);
    await assertRefused(merge(two.customer_id, one.customer_id), 'not_found');
    await assertRefused(merge(one.customer_id, two.customer_id), 'not_found');
    await run();
    assert.deepEqual(await searchDatabase(world.db, ['one@erased.example']), []);
  });

  it('waits for an order under change, and empties what the change has made of it', async () => {
    const shop = await openShop(world);
    const order = await orderOf(shop, 'busy@erased.example');
    await erase(shop, order.customer_id);
    const change = await changing(world.db, order.id);
    const running = run();
    await change.untilAwaited();
    await change.takeClock(shop.integrationId);
    await change.end();
    await running;
    assert.deepEqual(await searchDatabase(world.db, ['busy@erased.example']), []);
  });

  it('goes on in another process when its own is killed, before and after a commit', async () => {
    for (const [dieAt, transaction] of [
      ['before the commit', 2],
      ['after the commit', 1],
    ] as const) {
      const shop = await openShop(world);
      const email = `killed${transaction}@erased.example`;
      const order = await orderOf(shop, email);
      await copyOrder(order.id);
      await erase(shop, order.customer_id);
      await runAndDie({ work: 'erasures', transaction, dieAt });
      assert.notDeepEqual(await searchDatabase(world.db, [email]), []);
      await until(async () => (await run()) > 0, 'nobody took the job over');
      assert.deepEqual(await searchDatabase(world.db, [email]), []);
    }
  });

  /** More orders of the same customer than one batch takes. */
  async function copyOrder(orderId: string): Promise<void> {
    const copies = Array.from({ length: 60 }, () => ({ id: newId('order') }));
    await world.db.query(sql`
      insert into orders (integration_id, id, organization_id, channel_order_id, status, is_test, customer_id, document,
        created_at, updated_at)
      select o.integration_id, copies.id, o.organization_id, copies.id, o.status, o.is_test, o.customer_id,
        replace(o.document, o.id, copies.id), o.created_at, o.updated_at
      from orders o, ${unnestRows('copies', copies, { id: 'text' })} where o.id = ${orderId}`);
  }

  async function runAndDie(order: Omit<DeletionOrder, 'address'>): Promise<void> {
    const text = JSON.stringify({ ...order, address: world.database.address });
    const child = spawn(process.execPath, ['test/deletion/deletion-process.ts', text], {
      cwd: ROOT_DIR,
      stdio: 'inherit',
    });
    const [, signal] = await once(child, 'exit');
    assert.equal(signal, 'SIGKILL');
  }
});
