import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloneDatabase } from '../../test/harness/database/database.ts';
import { openShop } from '../../test/harness/shop.ts';
import { startWorld } from '../../test/harness/world.ts';
import { openDatabase, type Transaction } from '../db/database.ts';
import { rawSql, sql } from '../db/sql.ts';
import { openOutbox } from './outbox.ts';

const EVENTS = 3_000;

describe('the outbox', () => {
  it('does not read the events to check that a delivery’s is there, however many have come since the plan was made', async (t) => {
    const database = await cloneDatabase();
    const world = await startWorld({ database });
    t.after(() => world.stop());
    const { integrationId } = await openShop(world);
    // One connection, so that the plan of the check is the one that was made while there were few events.
    const db = openDatabase({ address: database.address, poolSize: 1, onIdleError: () => {} });
    t.after(() => db.close());
    const endpoint = {
      integrationId,
      organizationId: null,
      apiVersion: '2026-05-07',
      isTestMode: false,
      url: 'https://example.ch/hooks',
      subscriptions: ['*'],
      isSending: true,
    };
    const write = (tx: Transaction) => {
      const outbox = openOutbox();
      const object = { id: integrationId, object: 'integration' };
      const type = 'integration.test_event' as const;
      outbox.add(endpoint, { type, object, previous: undefined, createdAt: new Date(), isSuppressed: false });
      outbox.write(tx);
    };
    const addEvents = (from: number, to: number) => sql`
      insert into events (integration_id, id, type, created_at, body, has_delivery)
      select ${integrationId}, 'evt_' || n, 'listing.updated', now(), 'x', false from generate_series(${from}::integer, ${to}::integer) n`;
    // The server knows that there is one event: reading the whole table looks like the best way to find it.
    await world.db.query(addEvents(0, 0));
    await world.db.query(rawSql('analyze events'));
    for (let time = 0; time < 7; time++) await db.transaction(async (tx) => write(tx), { planning: 'once' });
    await world.db.query(addEvents(1, EVENTS));
    const scans = await db.transaction(
      async (tx) => {
        write(tx);
        return await tx.query<{ scans: number }>(sql`
          select seq_scan as scans from pg_stat_xact_user_tables where relname = 'events'`);
      },
      { planning: 'once' },
    );
    assert.deepEqual(scans, [{ scans: 0 }]);
  });
});
