import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';

describe('stored documents', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
  });
  after(() => world.stop());

  async function compressionOf(descriptionLength: number): Promise<string | null> {
    const id = await publishNew(world, dealer, watch({ description: 'a watch '.repeat(descriptionLength / 8) }));
    const [row] = await world.db.query<{ compression: string | null }>(sql`
      select pg_column_compression(document) as compression from channel_documents
      where integration_id = ${dealer.integrationId} and item_id = ${id}`);
    assert.ok(row);
    return row.compression;
  }

  it('are not compressed, unless a page could not hold two of them', async () => {
    // A description is in a document twice: as a text and as its paragraphs.
    assert.equal(await compressionOf(800), null);
    assert.equal(await compressionOf(4_000), 'pglz');
  });
});
