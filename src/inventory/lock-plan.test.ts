import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openShop, type Shop } from '../../test/harness/shop.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import type { Transaction } from '../db/database.ts';
import { plannedAnew, type Sql } from '../db/sql.ts';
import { lockItems } from './change-items.ts';

describe('the plan of a lock on items that is made before the table was analyzed', () => {
  let world: World;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
    shop = await openShop(world);
  });
  after(() => world?.stop());

  /** The plan of what is asked in a transaction that plans once. */
  async function planOf(ask: (tx: Transaction) => Promise<unknown>): Promise<string> {
    const lines: string[] = [];
    await world.db.transaction(
      async (tx) => {
        const query = async <Row extends object>({ text, values }: Sql): Promise<Row[]> => {
          const statement = plannedAnew({ text: `explain ${text}`, values } as Sql);
          const rows = await tx.query<{ 'QUERY PLAN': string }>(statement);
          lines.push(...rows.map((row) => row['QUERY PLAN']));
          return [];
        };
        await ask({ ...tx, query });
      },
      { planning: 'once' },
    );
    return lines.join('\n');
  }

  it('finds them by their ids, not among all of the dealer’s', async () => {
    const plan = await planOf((tx) => lockItems(tx, shop.organizationId, ['lst_1', 'lst_2']));
    assert.match(plan, /items_pkey/);
  });
});
