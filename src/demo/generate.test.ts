import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { projectItems } from '../channel/projection/project-items.ts';
import { sql } from '../db/sql.ts';
import { editItem } from '../inventory/items/item-operations.ts';
import { generateListings } from './generate.ts';

const COUNT = 603;

describe('generated listings', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('are the documents that the normal path renders, each announced by one event', async () => {
    const dealer = await world.dealer();
    const { organizationId, integrationId } = dealer;
    const progress: number[] = [];
    await generateListings(world.channel, {
      organizationId,
      integrationId,
      count: COUNT,
      onProgress: (done) => progress.push(done),
    });
    assert.equal(progress.at(-1), COUNT);

    const seen = new Set<string>();
    let path = '/v1/listings?limit=250';
    for (;;) {
      // Each page is held against the contract by the client.
      const { status, body } = await dealer.api.get(path);
      assert.equal(status, 200);
      for (const { id, photos } of body.data) {
        assert.equal(photos.length, 2);
        seen.add(id);
      }
      if (!body.has_more) break;
      path = `/v1/listings?limit=250&after=${body.next_cursor}`;
    }
    assert.equal(seen.size, COUNT);
    const types = await world.db.query(sql`
      select type, count(*) as count from events where integration_id = ${integrationId} group by type`);
    assert.deepEqual(types, [{ type: 'listing.published', count: COUNT }]);

    const itemIds = [...seen].slice(0, 300);
    const { changed } = await world.db.transaction((tx) =>
      projectItems(tx, world.channel, { itemIds, integrationIds: null }),
    );
    assert.equal(changed, 0, 'projecting them by the normal path changes nothing');
    await editItem(world.channel, TESTER, organizationId, itemIds[0] ?? '', { title: 'Another title' });
    assert.equal((await dealer.api.get(`/v1/listings/${itemIds[0]}`)).body.title, 'Another title');
  });

  it('can be made again and again for the same dealer', async () => {
    const { organizationId, integrationId, api } = await world.dealer();
    for (const count of [2, 3]) await generateListings(world.channel, { organizationId, integrationId, count });
    assert.equal((await api.get('/v1/listings')).body.data.length, 5);
  });
});
