import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { LOCK_NOT_AVAILABLE, sqlState, type Transaction } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { checkAgain, readAhead } from './read-ahead.ts';

describe('a batch that is read ahead', () => {
  let world: World;
  let dealer: Dealer;
  let itemId: string;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
    itemId = await publishNew(world, dealer, watch());
  });

  /** Reads ahead, lets somebody else commit a change, and checks again. */
  async function afterChange(change: Sql | null) {
    return await world.db.transaction(async (tx: Transaction) => {
      const ahead = await readAhead(tx, world.channel, dealer.integrationId, [itemId]);
      if (change !== null) await world.db.query(change);
      return { ahead, checked: await checkAgain(tx, world.channel, dealer.integrationId, ahead) };
    });
  }

  it('is used if nothing changed', async () => {
    const { ahead, checked } = await afterChange(null);
    assert.equal(ahead.sources.rendered?.size, 1);
    assert.equal(checked?.rendered, ahead.sources.rendered);
  });

  it('takes where webhooks go from the time of the check', async () => {
    const { checked } = await afterChange(sql`
      update webhook_endpoints set url = 'https://example.ch/new' where integration_id = ${dealer.integrationId}`);
    assert.equal(checked?.settings[0]?.endpoint.url, 'https://example.ch/new');
  });

  it('is read anew if the settings changed', async () => {
    const { checked } = await afterChange(sql`
      update integrations set markup_basis_points = 700 where id = ${dealer.integrationId}`);
    assert.equal(checked, null);
  });

  it('is read anew if a document was written, be it the same', async () => {
    const { checked } = await afterChange(sql`
      update channel_documents set document = document where integration_id = ${dealer.integrationId}`);
    assert.equal(checked, null);
  });

  it('keeps its items from being changed', async () => {
    await world.db.transaction(async (tx) => {
      await readAhead(tx, world.channel, dealer.integrationId, [itemId]);
      await assert.rejects(
        world.db.query(sql`select id from items where id = ${itemId} for update nowait`),
        (error) => sqlState(error) === LOCK_NOT_AVAILABLE,
      );
    });
  });
});
