import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloneDatabase } from '../../test/harness/database/database.ts';
import { openShop } from '../../test/harness/shop.ts';
import { startWorld } from '../../test/harness/world.ts';
import { openDatabase, type Transaction } from '../db/database.ts';
import { rawSql, sql } from '../db/sql.ts';
import { draftCustomer } from './customer-draft.ts';
import { readCustomers } from './customer-rows.ts';

const CUSTOMERS = 3_000;

describe('the customers that drafts may mean', () => {
  for (const situation of ['none', 'few, and analyzed', 'many, and not analyzed'] as const) {
    it(`are read by their keys, however many have come since the plan was made: there were ${situation}`, async (t) => {
      const database = await cloneDatabase();
      const world = await startWorld({ database });
      t.after(() => world.stop());
      const { integrationId, organizationId } = await openShop(world);
      const addCustomers = async (from: number, to: number) => {
        await world.db.query(sql`
        insert into customers (id, organization_id, is_test, email, email_key, phone, created_at, updated_at)
        select 'cus_' || n, ${organizationId}, false, n || '@example.ch', n || '@example.ch', '+4179' || 1000000 + n, now(), now()
        from generate_series(${from}::integer, ${to}::integer) n`);
        await world.db.query(sql`
        insert into customer_external_ids (integration_id, is_test, external_id, customer_id)
        select ${integrationId}, false, 'c' || n, 'cus_' || n from generate_series(${from}::integer, ${to}::integer) n`);
      };
      // One connection, so that the plan is the one that was made while there were few: any index looked as good as another.
      const db = openDatabase({ address: database.address, poolSize: 1, onIdleError: () => {} });
      t.after(() => db.close());
      const drafts = [{ email: '1@example.ch' }, { phone: '+41791000002' }, { external_id: 'c3' }].map((input) =>
        draftCustomer(input, null, ''),
      );
      const fetchedRows = async (tx: Transaction) => {
        const [row] = await tx.query<{ count: number }>(sql`
        select sum(idx_tup_fetch)::integer as count from pg_stat_xact_user_tables
        where relname in ('customers', 'customer_external_ids')`);
        return row?.count ?? 0;
      };
      const read = () =>
        db.transaction(
          async (tx) => {
            const before = await fetchedRows(tx);
            const { customers, links } = await readCustomers(
              tx,
              { organizationId, integrationId, isTest: false },
              drafts,
            );
            const fetched = (await fetchedRows(tx)) - before;
            return { ids: customers.map(({ id }) => id).sort(), links: [...links.keys()].sort(), fetched };
          },
          { planning: 'once' },
        );

      const before = situation === 'none' ? 0 : situation === 'few, and analyzed' ? 3 : CUSTOMERS / 10;
      if (before > 0) await addCustomers(1, before);
      if (situation === 'few, and analyzed') {
        await world.db.query(rawSql('analyze customers, customer_external_ids'));
      }
      await read();
      await addCustomers(before + 1, CUSTOMERS);
      const many = await read();
      assert.ok(many.fetched <= 3 * drafts.length, `${many.fetched} rows were fetched for ${drafts.length} customers`);
      assert.deepEqual(
        [many.ids, many.links],
        [
          ['cus_1', 'cus_2', 'cus_3'],
          ['c1', 'c2', 'c3'],
        ],
      );
    });
  }
});
