import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../src/db/sql.ts';
import { deleteOrganization, listDeletions } from '../../src/dealers/deletions.ts';
import { runDeletions } from '../../src/sales/deletion/run-deletions.ts';
import { TESTER } from '../harness/actor.ts';
import { until } from '../harness/database/locks.ts';
import { openShop } from '../harness/shop.ts';
import { startWorld, type World } from '../harness/world.ts';
import { ROOT_DIR } from '../service/service-process.ts';
import { fillWithRows } from './bulk-rows.ts';
import type { DeletionOrder } from './deletion-process.ts';

const COUNTS = { events: 3_000, orders: 120, items: 400, customers: 1_500 };
/** And some of the audit log. Lines go with their orders, and are not counted. */
const ROWS = 2 * COUNTS.events + COUNTS.orders + 3 * COUNTS.items + COUNTS.customers;

describe('a deletion whose process is killed', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  async function runAndDie(order: Omit<DeletionOrder, 'address'>): Promise<void> {
    const text = JSON.stringify({ ...order, address: world.database.address });
    const child = spawn(process.execPath, ['test/deletion/deletion-process.ts', text], {
      cwd: ROOT_DIR,
      stdio: 'inherit',
    });
    const [, signal] = await once(child, 'exit');
    assert.equal(signal, 'SIGKILL');
  }

  // The transactions: one detaches, three remove orders and find no more, four deliveries, four events, and so on.
  for (const [dieAt, transaction] of [
    ['before the commit', 2],
    ['after the commit', 7],
    ['before the commit', 18],
  ] as const) {
    it(`${dieAt} of transaction ${transaction} is taken over when the lease runs out, and each row is removed once`, async () => {
      const shop = await openShop(world);
      await fillWithRows(world.database.address, shop, COUNTS);
      await deleteOrganization(world.db, TESTER, shop.organizationId);
      await runAndDie({ work: 'deletions', transaction, dieAt });
      assert.equal((await shop.api.get('/v1/me')).status, 401);
      const readJob = async () => (await listDeletions(world.db, shop.organizationId, 1))[0];
      const cut = await readJob();
      assert.equal(cut?.status, 'running');
      assert.ok((cut.total ?? 0) >= ROWS && cut.done < ROWS);
      await until(async () => (await runDeletions(world.channel, undefined, 0)) > 0, 'nobody took the job over');
      assert.partialDeepStrictEqual(await readJob(), { status: 'done', done: cut.total });
      const left = await world.db.query(sql`select id from organizations where id = ${shop.organizationId}`);
      assert.deepEqual(left, []);
    });
  }
});
