import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ChannelContext } from '../../src/channel/context.ts';
import { sql } from '../../src/db/sql.ts';
import { eraseCustomer } from '../../src/sales/erasure/erase-customer.ts';
import type { ErasureJob } from '../../src/sales/erasure/erase-orders.ts';
import { listErasures } from '../../src/sales/erasure/erasure-progress.ts';
import { ERASURE_STAGES, type Position } from '../../src/sales/erasure/erasure-stages.ts';
import { runErasures } from '../../src/sales/erasure/run-erasures.ts';
import { TESTER } from '../harness/actor.ts';
import { explainRead } from '../harness/database/explain.ts';
import { fillEvents, fillRequests } from '../harness/database/many-rows.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { startWorld, type World } from '../harness/world.ts';

const ROWS = 10_000;
/** A batch looks at a thousand rows; a statement that read a table would look at ten thousand. */
const ROWS_OF_A_BATCH_LIMIT = 2_500;

describe('an erasure among many rows', () => {
  let world: World;
  let shop: Shop;
  let customerId: string;
  before(async () => {
    world = await startWorld({ dashboard: null });
    shop = await openShop(world);
    const customer = { email: 'ana.erased@example.ch', first_name: 'Ana' };
    for (const number of ['SO-1', 'SO-2']) {
      const { body } = await shop.post('/v1/orders', { channel_order_id: number, customer });
      customerId = body.customer_id;
    }
    for (const fill of [fillEvents, fillRequests]) await fill(world.db, shop, ROWS);
  });
  after(() => world.stop());

  it('looks at no more rows in a batch than a batch has, and says how far it is', async (t) => {
    const jobId = await eraseCustomer(world.channel, TESTER, shop.organizationId, customerId);
    const [row] = await world.db.query<{ person: ErasureJob['person'] }>(sql`
      select person from erasure_jobs where id = ${jobId}`);
    assert.ok(row !== undefined);
    const job: ErasureJob = {
      id: jobId,
      organizationId: shop.organizationId,
      customerId,
      isTest: false,
      person: row.person,
    };
    for (const stage of ERASURE_STAGES) {
      // Explained statements run twice, which those that lock and advance clocks must not.
      const isExplained = ['events', 'answers', 'texts'].includes(stage.name);
      let position: Position | null = null;
      do {
        const from: Position | null = position;
        const run = async (context: ChannelContext) => {
          ({ position } = await stage.run(context, job, from));
        };
        if (!isExplained) {
          await run(world.channel);
          continue;
        }
        for (const { plan, text } of await explainRead(world.db, (db) => run({ ...world.channel, db }))) {
          const rows = mostRows(plan as PlanNode);
          t.diagnostic(`${stage.name} ${JSON.stringify(from)}: ${rows} rows`);
          assert.ok(rows <= ROWS_OF_A_BATCH_LIMIT, `${rows} rows: ${text} ${JSON.stringify(plan)}`);
        }
      } while (position !== null);
    }

    assert.partialDeepStrictEqual(await listErasures(world.db, shop.organizationId, 10), [{ isDone: false, step: 1 }]);
    await runErasures(world.channel, undefined, { pauseMs: 0, settleMs: 0 });
    const [progress] = await listErasures(world.db, shop.organizationId, 10);
    assert.partialDeepStrictEqual(progress, { id: jobId, isDone: true, step: progress?.steps, error: null });
    assert.ok((progress?.lookedAt ?? 0) > ROWS, 'deliveries and requests were searched');
  });

  it('takes turns with those of other dealers', async () => {
    const neighbour = await openShop(world);
    const erase = async (of: Shop, number: string): Promise<string> => {
      const order = { channel_order_id: number, customer: { email: `${number}@example.ch`.toLowerCase() } };
      const { body } = await of.post('/v1/orders', order);
      return await eraseCustomer(world.channel, TESTER, of.organizationId, body.customer_id);
    };
    const many = [await erase(shop, 'SO-3'), await erase(shop, 'SO-4'), await erase(shop, 'SO-5')];
    const one = await erase(neighbour, 'SO-6');
    await runErasures(world.channel, undefined, { pauseMs: 0, settleMs: 0 });
    const rows = await world.db.query<{ id: string }>(sql`
      select id from erasure_jobs where id = any(${[...many, one]}::text[]) order by finished_at`);
    assert.equal(rows.length, 4);
    assert.equal(rows[0]?.id, one, 'it has the fewest rows to look at');
  });
});

type PlanNode = {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
};

/** Of all steps of a plan, how many rows the one that looked at the most has looked at. */
function mostRows(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = (node['Actual Rows'] + removed) * node['Actual Loops'];
  return Math.max(own, ...(node.Plans ?? []).map(mostRows));
}
