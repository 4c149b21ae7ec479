import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { PRICED_LIMITS, runJobs } from '../../src/channel/jobs/run-jobs.ts';
import { ATTEMPTS_LIMIT } from '../../src/db/jobs/job-lease.ts';
import { sql } from '../../src/db/sql.ts';
import { changePresentation } from '../../src/dealers/integrations/integration-settings.ts';
import { createItem } from '../../src/inventory/items/item-operations.ts';
import { setPublished } from '../../src/inventory/publications.ts';
import { TESTER } from '../harness/actor.ts';
import { until } from '../harness/database/locks.ts';
import { observe } from '../harness/observe.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { part, publishNew, watch } from '../harness/stock.ts';
import { startWorld, type World } from '../harness/world.ts';
import { ROOT_DIR } from '../service/service-process.ts';
import type { JobOrder } from './job-process.ts';

/** More than two full batches. */
const STOCK = 230;

describe('a mass change whose process is killed', () => {
  let world: World;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
    shop = await openShop(world);
    const ids: string[] = [];
    for (let index = 0; index < STOCK; index++) {
      ids.push(await createItem(world.channel, TESTER, shop.organizationId, index % 3 === 0 ? part() : watch()));
    }
    await setPublished(world.channel, TESTER, shop.organizationId, shop.integrationId, ids, true);
  });
  after(() => world.stop());

  async function runAndDie(order: Omit<JobOrder, 'address'>): Promise<void> {
    const text = JSON.stringify({ ...order, address: world.database.address });
    const child = spawn(process.execPath, ['test/channel/job-process.ts', text], { cwd: ROOT_DIR, stdio: 'inherit' });
    const [, signal] = await once(child, 'exit');
    assert.equal(signal, 'SIGKILL');
  }
  const readJob = async () => {
    const [job] = await world.db.query<{ status: string; done: number; is_leased: boolean }>(sql`
      select status, done, leased_until > now() as is_leased from channel_jobs
      where integration_id = ${shop.integrationId} order by created_at desc, id desc limit 1`);
    return job;
  };

  for (const [dieAt, done, markup] of [
    ['before the commit', PRICED_LIMITS.first, 500],
    ['after the commit', 2 * PRICED_LIMITS.first, 900],
  ] as const) {
    it(`${dieAt} of a batch is taken over when the lease runs out, and each document is announced once`, async () => {
      const seen = await observe(shop.api, async () => {
        await changePresentation(world.channel, TESTER, shop.organizationId, shop.integrationId, {
          markupBasisPoints: markup,
        });
        await runAndDie({ batch: 2, dieAt });
        assert.deepEqual(await readJob(), { status: 'running', done, is_leased: true });
        let projected = 0;
        await until(async () => {
          projected += await runJobs(world.channel, undefined, 0);
          return projected > 0;
        }, 'nobody took the job over');
        assert.equal(projected, STOCK - done);
      });
      assert.equal(seen.events.length, STOCK);
      assert.equal(new Set(seen.events.map((event) => event.data.object.id)).size, STOCK);
      assert.partialDeepStrictEqual(await readJob(), { status: 'done', done: STOCK });
    });
  }

  /** As if so many hours had passed since the last worker had it. */
  const passHours = (hours: number) =>
    world.db.query(sql`
      update channel_jobs set leased_until = now() - make_interval(hours => ${hours}, secs => 1)
      where status in ('pending', 'running')`);
  const readAttempts = async () => {
    const [row] = await world.db.query<{ attempts: number }>(sql`
      select attempts from channel_jobs where integration_id = ${shop.integrationId} order by created_at desc, id desc limit 1`);
    return row?.attempts;
  };
  const changeMarkup = ({ organizationId, integrationId }: Shop, markupBasisPoints: number) =>
    changePresentation(world.channel, TESTER, organizationId, integrationId, { markupBasisPoints });

  it('at the same batch each time rests for an hour, while others go on, and is done in the end', async () => {
    await changeMarkup(shop, 1_100);
    for (let times = 1; times <= ATTEMPTS_LIMIT; times++) {
      assert.equal(await readAttempts(), times - 1);
      await runAndDie({ batch: 1, dieAt: 'before the commit' });
      await passHours(0);
    }
    const other = await openShop(world);
    await publishNew(world, other, watch());
    await changeMarkup(other, 1_100);
    assert.equal(await runJobs(world.channel, undefined, 0), 1, 'only the other’s');
    assert.partialDeepStrictEqual(await readJob(), { status: 'running', done: 0 });
    await passHours(1);
    assert.equal(await runJobs(world.channel, undefined, 0), STOCK);
    assert.partialDeepStrictEqual(await readJob(), { status: 'done', done: STOCK });
    assert.equal(await readAttempts(), 0);
  });

  it('or stopped after a batch begins to count anew', async () => {
    await changeMarkup(shop, 1_200);
    await runAndDie({ batch: 1, dieAt: 'before the commit' });
    await passHours(0);
    const stop = new AbortController();
    const context = { ...world.channel, onEvents: () => stop.abort() };
    await runJobs(context, stop.signal, 0);
    assert.equal(await readAttempts(), 0);
    assert.partialDeepStrictEqual(await readJob(), { status: 'pending', done: PRICED_LIMITS.first });
    await runJobs(world.channel, undefined, 0);
  });
});
