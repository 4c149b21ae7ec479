import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { holdLock, untilBlocked } from '../../../../test/harness/database/locks.ts';
import { signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { COMMAND_LINE } from '../../../audit/actor.ts';
import { CONNECTIONS_PER_TASK } from '../../../db/connection-limit.ts';
import { sql } from '../../../db/sql.ts';
import { createItem } from '../../../inventory/items/item-operations.ts';

/** How often the server is asked, once as many queries wait as may. */
const LOOKS = 20;

describe('a call of the dashboard', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('has at most two queries on the server at once, also if its page reads a dozen things', async () => {
    const owner = await signedIn(world);
    const itemId = await createItem(world.channel, COMMAND_LINE, owner.organizationId, watch());
    // All that the page of an item reads side by side, so that whatever reaches the server stays there.
    const tables = 'sales, order_lines, reservations, locations, integrations';
    const lock = await holdLock(world.db, `lock table ${tables} in access exclusive mode`, []);
    const page = owner.call('GET', `/items/${itemId}`);
    try {
      await untilBlocked(world.db, CONNECTIONS_PER_TASK);
      for (let look = 0; look < LOOKS; look++) {
        const blocked = await world.db.query(sql`
          select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
        assert.equal(blocked.length, CONNECTIONS_PER_TASK);
      }
    } finally {
      await lock.release();
    }
    const { status, body, text } = await page;
    assert.equal(status, 200, text);
    assert.equal(body.id, itemId);
  });
});
