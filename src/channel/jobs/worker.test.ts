import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TESTER } from '../../../test/harness/actor.ts';
import { readDocuments, readEvents } from '../../../test/harness/observe.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import type { RepeatedTask } from '../../concurrency/repeat.ts';
import { sql } from '../../db/sql.ts';
import { setOrganization } from '../../dealers/integrations/attach-integration.ts';
import { changePresentation } from '../../dealers/integrations/integration-settings.ts';
import { startPromotion } from '../../inventory/promotions.ts';
import { lockClocks } from '../clock.ts';
import type { ChannelContext } from '../context.ts';
import { refreshDue } from '../projection/due-promotions.ts';
import { listJobs } from './channel-job-queue.ts';
import { startChannelWorker } from './worker.ts';

/** Far more than a worker needs, for machines that have other things to do. */
const PATIENCE_MS = 60_000;

describe('the channel’s worker', () => {
  let world: World;
  let worker: RepeatedTask | null = null;
  const faults: unknown[] = [];
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  afterEach(async () => {
    await worker?.stop();
    worker = null;
    world.setTime(null);
    faults.length = 0;
  });

  const start = (context: ChannelContext = world.channel) => {
    worker = startChannelWorker(context, (error) => faults.push(error));
  };
  async function eventually(what: string, isTrue: () => Promise<boolean>): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (!(await isTrue())) {
      assert.ok(Date.now() < giveUpAt, `${what} did not happen`);
      await sleep(50);
    }
  }
  /** The events alone: reading a document would project it. */
  const types = async (dealer: Dealer) => (await readEvents(dealer.api)).map((event) => event.type);
  async function promoted(dealer: Dealer, startsAt: Date, endsAt: Date | null): Promise<string> {
    const id = await publishNew(world, dealer, watch());
    await startPromotion(world.channel, TESTER, dealer.organizationId, id, { priceAmount: 1_000, startsAt, endsAt });
    return id;
  }
  /** Far enough ahead that a busy machine has made the promotion by then. */
  const soon = () => new Date(Date.now() + 3_000);

  it('starts and ends promotions on time, by the clock on the wall, without anyone’s action', async () => {
    // Two, since a busy machine may come to look at one only after both its start and its end.
    const [starting, ending] = [await world.dealer(), await world.dealer()];
    const startsAt = soon();
    await promoted(starting, startsAt, null);
    const endsAt = soon();
    const id = await promoted(ending, new Date(0), endsAt);
    start();
    await eventually('the start', async () => (await types(starting)).length === 2);
    await eventually('the end', async () => (await types(ending)).length === 3);
    assert.deepEqual(await types(starting), ['listing.published', 'listing.updated']);
    assert.deepEqual(await types(ending), ['listing.published', 'listing.updated', 'listing.updated']);
    const began = (await readEvents(starting.api)).at(-1);
    const ended = (await readEvents(ending.api)).at(-1);
    assert.ok(Date.parse(began?.created_at ?? '') >= startsAt.getTime(), 'not before it starts');
    assert.ok(Date.parse(ended?.created_at ?? '') >= endsAt.getTime(), 'not before it ends');
    assert.equal((await readDocuments(ending.api)).get(id).promotion, null);
    assert.deepEqual(faults, []);
  });

  it('follows a clock that a test moves', async () => {
    const dealer = await world.dealer();
    const now = Date.now();
    await promoted(dealer, new Date(now + 3_600_000), new Date(now + 7_200_000));
    start();
    world.setTime(new Date(now + 3_600_000));
    await eventually('its start', async () => (await types(dealer)).length === 2);
    world.setTime(new Date(now + 7_199_999));
    await sleep(700);
    assert.equal((await types(dealer)).length, 2);
    world.setTime(new Date(now + 7_200_000));
    await eventually('its end', async () => (await types(dealer)).length === 3);
  });

  it('carries changes of settings into the documents', async () => {
    const dealer = await world.dealer();
    const id = await publishNew(world, dealer, watch());
    start();
    await changePresentation(world.channel, TESTER, dealer.organizationId, dealer.integrationId, {
      markupBasisPoints: 1_000,
    });
    await eventually('the change', async () => (await types(dealer)).length === 2);
    assert.equal((await readDocuments(dealer.api)).get(id).price.amount, 1_428_900);
  });

  it('ends promotions on time while a mass change can’t go on', async () => {
    const [slow, other] = [await world.dealer(), await world.dealer()];
    await publishNew(world, slow, watch());
    await changePresentation(world.channel, TESTER, slow.organizationId, slow.integrationId, {
      markupBasisPoints: 1_000,
    });
    await promoted(other, new Date(0), soon());
    await world.db.transaction(async (tx) => {
      // The mass change needs this clock, which we hold.
      await lockClocks(tx, [slow.integrationId]);
      start();
      await eventually('the end of the promotion', async () => (await types(other)).length === 3);
      const [job] = await listJobs(world.db, slow.organizationId, 1);
      assert.ok(job !== undefined && job.status !== 'done');
      assert.equal(job.done, 0);
    });
    await eventually('the mass change', async () => (await types(slow)).length === 2);
  });

  it('lets a channel that it can’t project hold up no other', async (t) => {
    const [broken, other] = [await world.dealer(), await world.dealer()];
    // Other tests must not meet it, whatever happens here.
    t.after(() => world.db.query(sql`delete from integrations where id = ${broken.integrationId}`));
    const endsAt = soon();
    await promoted(broken, new Date(0), endsAt);
    await promoted(other, new Date(0), endsAt);
    await world.db.query(sql`update integrations set api_version = '1999-01-01' where id = ${broken.integrationId}`);
    await world.db.query(sql`
      update channel_documents set api_version = '1999-01-01' where integration_id = ${broken.integrationId}`);
    start();
    await eventually('the end of the promotion', async () => (await types(other)).length === 3);
    await eventually('the fault', async () => faults.length > 0);
    assert.match(String((faults[0] as AggregateError).errors[0]), /does not know the API version 1999-01-01/);
  });

  it('leaves a detached channel alone', async () => {
    const dealer = await world.dealer();
    const end = new Date(Date.now() + 60_000);
    await promoted(dealer, new Date(0), end);
    await setOrganization(world.db, TESTER, dealer.integrationId, null);
    world.setTime(end);
    assert.equal(await refreshDue(world.channel), 0);
    await setOrganization(world.db, TESTER, dealer.integrationId, dealer.organizationId);
    assert.equal(await refreshDue(world.channel), 1);
    world.setTime(null);
  });

  it('projects what falls due at once, however much it is', async () => {
    const dealer = await world.dealer();
    const ids: string[] = [];
    for (let index = 0; index < 120; index++) {
      ids.push(await promoted(dealer, new Date(0), new Date('2099-01-01T00:00:00Z')));
    }
    world.setTime(new Date('2099-01-01T00:00:00Z'));
    const [one, other] = await Promise.all([refreshDue(world.channel), refreshDue(world.channel)]);
    assert.ok(one + other >= 120);
    // All that happened before is more than 30 days ago by now.
    const ended = (await readEvents(dealer.api)).map((event) => event.data.object.id);
    assert.deepEqual(ended.sort(), ids.sort());
    assert.equal(await refreshDue(world.channel), 0);
  });

  it('stops when asked to, also in the middle of a fault', async () => {
    start({ ...world.channel, db: { ...world.db, query: () => Promise.reject(new Error('away')) } as typeof world.db });
    await eventually('the fault', async () => faults.length > 0);
    await worker?.stop();
    worker = null;
  });
});
