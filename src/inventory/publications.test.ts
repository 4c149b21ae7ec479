import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../test/harness/actor.ts';
import { untilBlocked } from '../../test/harness/database/locks.ts';
import { observe, observeAll, type SecondChannel, secondChannel } from '../../test/harness/observe.ts';
import { assertRefused } from '../../test/harness/refusal.ts';
import { part, publishNew, watch } from '../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../test/harness/world.ts';
import { lockClocks } from '../channel/clock.ts';
import type { DomainError } from '../contract/domain-error.ts';
import { sql } from '../db/sql.ts';
import { deleteIntegration } from '../dealers/deletions.ts';
import { setOrganization } from '../dealers/integrations/attach-integration.ts';
import { newId } from '../ids/new-id.ts';
import { deleteItem } from '../sales/delete-item.ts';
import { createItem } from './items/item-operations.ts';
import { setPublished } from './publications.ts';

describe('publishing', () => {
  let world: World;
  let dealer: Dealer;
  let second: SecondChannel;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    second = await secondChannel(world, dealer);
  });
  after(() => world.stop());

  const create = (item: Parameters<typeof createItem>[3]) =>
    createItem(world.channel, TESTER, dealer.organizationId, item);
  const publish = (ids: string[], isOn = true, onProgress?: (done: number) => void) =>
    setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, ids, isOn, {
      ...(onProgress === undefined ? {} : { onProgress }),
    });

  it('announces to the one channel it is for', async () => {
    const id = await create(watch());
    const [first, other] = await observeAll([dealer.api, second.api], () => publish([id]));
    assert.deepEqual(first.types, ['listing.published']);
    assert.deepEqual(first.events[0]?.data, { object: { id, object: 'listing' } });
    assert.equal(first.documents.get(id).published_at <= first.documents.get(id).updated_at, true);
    assert.deepEqual([other.types, other.changed], [[], []]);
    assert.equal((await second.api.get(`/v1/listings/${id}`)).status, 404);
  });

  it('twice is one publication, with its first date', async () => {
    const id = await create(watch());
    await publish([id]);
    const seen = await observe(dealer.api, () => publish([id, id]));
    assert.deepEqual([seen.types, seen.changed], [[], []]);
  });

  it('at once is one publication', async () => {
    const id = await create(watch());
    const seen = await observe(dealer.api, () => Promise.all([publish([id]), publish([id]), publish([id])]));
    assert.deepEqual(seen.types, ['listing.published']);
  });

  it('of a listing again is a new publication with a new date', async () => {
    const id = await create(watch());
    await publish([id]);
    const off = await observe(dealer.api, () => publish([id], false));
    assert.deepEqual(off.types, ['listing.unpublished']);
    assert.deepEqual(off.events[0]?.data, { object: { id, object: 'listing' } });
    assert.equal(off.documents.get(id).status, 'unpublished');
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).body.status, 'unpublished');
    assert.deepEqual(await offAgain(id), [[], []]);
    const on = await observe(dealer.api, () => publish([id]));
    assert.deepEqual(on.types, ['listing.published']);
    assert.ok(on.documents.get(id).published_at > off.documents.get(id).published_at);
  });

  async function offAgain(id: string): Promise<[string[], string[]]> {
    const seen = await observe(dealer.api, () => publish([id], false));
    return [seen.types, seen.changed];
  }

  it('of a part off and on again: off it reads 404 and is in no list', async () => {
    const id = await create(part());
    const on = await observe(dealer.api, () => publish([id]));
    assert.deepEqual(on.types, ['part.published']);
    const off = await observe(dealer.api, () => publish([id], false));
    assert.deepEqual(off.types, ['part.unpublished']);
    assert.deepEqual(off.events[0]?.data, { object: { id, object: 'part' } });
    assert.deepEqual(off.gone, [id]);
    const { status, body } = await dealer.api.get(`/v1/parts/${id}`);
    assert.deepEqual([status, body.error.code], [404, 'part_not_found']);
    const { body: list } = await dealer.api.get('/v1/parts?updated_after=2020-01-01');
    assert.ok(!list.data.some((document: { id: string }) => document.id === id));
    assert.deepEqual(await offAgain(id), [[], []]);
    assert.deepEqual((await observe(dealer.api, () => publish([id]))).types, ['part.published']);
  });

  it('of a part at zero units is part.published', async () => {
    const id = await create(part({ units: 0 }));
    const seen = await observe(dealer.api, () => publish([id]));
    assert.deepEqual(seen.types, ['part.published']);
    assert.equal(seen.documents.get(id).status, 'sold_out');
  });

  it('off of what was never on is nothing', async () => {
    const id = await create(watch());
    assert.deepEqual(await offAgain(id), [[], []]);
    assert.equal((await dealer.api.get(`/v1/listings/${id}`)).status, 404);
  });

  it('of many goes in batches, announces each once and reports its progress', async () => {
    const ids = await Promise.all(
      Array.from({ length: 230 }, (_, index) => create(index % 2 === 0 ? watch() : part())),
    );
    const progress: number[] = [];
    const seen = await observe(dealer.api, () => publish([...ids, ...ids], true, (done) => progress.push(done)));
    assert.deepEqual(progress, [100, 200, 230]);
    assert.equal(seen.types.length, 230);
    assert.deepEqual(new Set(seen.types), new Set(['listing.published', 'part.published']));
    assert.deepEqual(seen.changed.sort(), ids.sort());
    assert.equal(new Set(seen.events.map((event) => event.created_at)).size, 3);
    const off = await observe(dealer.api, () => publish(ids, false));
    assert.equal(off.types.length, 230);
    assert.equal(off.gone.length, 115);
  });

  it('of many of which some are gone is done for the others, and then names the missing', async () => {
    const other = await world.dealer();
    const theirs = await publishNew(world, other, watch());
    const ids = await Promise.all(Array.from({ length: 110 }, () => create(watch())));
    const [first = '', last = ''] = [ids[0], ids.at(-1)];
    for (const id of [first, last]) await deleteItem(world.channel, TESTER, dealer.organizationId, id);
    const wanted = [...ids, 'aaa_unknown', theirs];
    const progress: number[] = [];
    const seen = await observe(dealer.api, async () => {
      await assert.rejects(
        publish(wanted, true, (done) => progress.push(done)),
        (error: DomainError) => {
          assert.equal(error.code, 'not_found');
          for (const id of [first, last, theirs, 'aaa_unknown']) assert.ok(error.message.includes(id), error.message);
          return true;
        },
      );
    });
    assert.deepEqual(seen.changed.toSorted(), ids.slice(1, -1).toSorted());
    assert.deepEqual(progress, [100, 112]);
    const again = await observe(dealer.api, () => assertRefused(publish(wanted), 'not_found'));
    assert.deepEqual([again.types, again.changed], [[], []]);
  });

  it('of many of which a thousand are gone names only some of them', async () => {
    const unknown = Array.from({ length: 1_000 }, () => newId('listing'));
    await assert.rejects(publish(unknown), (error: DomainError) => {
      assert.match(error.message, / and 990 more/);
      return error.message.length < 1_000;
    });
  });

  it('of many that a fault interrupts keeps the batches before, and repeating it completes it', async () => {
    const ids = await Promise.all(Array.from({ length: 110 }, () => create(watch())));
    const fault = new Error('the power is gone');
    const stop = (): void => {
      throw fault;
    };
    const first = await observe(dealer.api, () => assert.rejects(publish(ids, true, stop), fault));
    assert.equal(first.types.length, 100);
    const rest = await observe(dealer.api, () => publish(ids));
    assert.equal(rest.types.length, 10);
  });

  it('of none is nothing', async () => {
    const seen = await observe(dealer.api, () => publish([]));
    assert.deepEqual(seen.types, []);
  });

  it('of another dealer’s item, or on another dealer’s integration, is refused', async () => {
    const other = await world.dealer();
    const theirs = await publishNew(world, other, watch());
    const ours = await create(watch());
    await assertRefused(publish([theirs]), 'not_found');
    for (const integrationId of [other.integrationId, newId('integration'), 'nonsense']) {
      await assertRefused(
        setPublished(world.channel, TESTER, dealer.organizationId, integrationId, [ours], true),
        'not_found',
      );
    }
    assert.equal((await dealer.api.get(`/v1/listings/${theirs}`)).status, 404);
    assert.equal((await other.api.get(`/v1/listings/${ours}`)).status, 404);
  });

  it('on a channel that is detached meanwhile is refused', async () => {
    const { organizationId, integrationId } = await world.dealer();
    const id = await createItem(world.channel, TESTER, organizationId, watch());
    const db: typeof world.db = {
      ...world.db,
      async transaction(...work) {
        await setOrganization(world.db, TESTER, integrationId, null);
        return await world.db.transaction(...work);
      },
    };
    await assertRefused(
      setPublished({ ...world.channel, db }, TESTER, organizationId, integrationId, [id], true),
      'not_found',
    );
    const rows = await world.db.query(sql`select item_id from publications where integration_id = ${integrationId}`);
    assert.deepEqual(rows, []);
  });

  it('on a channel that is deleted meanwhile is refused, and neither waits for the other', async () => {
    const { organizationId, integrationId } = await world.dealer();
    const id = await createItem(world.channel, TESTER, organizationId, watch());
    let attempts = 0;
    let publishing: Promise<void> = Promise.resolve();
    await world.db.transaction(async (tx) => {
      attempts += 1;
      await lockClocks(tx, [integrationId]);
      publishing = assertRefused(
        setPublished(world.channel, TESTER, organizationId, integrationId, [id], true),
        'not_found',
      );
      await untilBlocked(world.db);
      await deleteIntegration(tx, TESTER, integrationId);
    });
    await publishing;
    assert.equal(attempts, 1, 'a deadlock had to be resolved');
  });
});
