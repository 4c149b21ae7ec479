import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { FINISHED_JOB_KEPT_DAYS } from '../../db/jobs/job-lease.ts';
import { rawSql, sql } from '../../db/sql.ts';
import { setOrganization } from '../../dealers/integrations/attach-integration.ts';
import { changePresentation } from '../../dealers/integrations/integration-settings.ts';
import type { ChannelContext } from '../context.ts';
import { enqueueStaleRenders, listJobs, pruneJobs } from './channel-job-queue.ts';
import { runJobs } from './run-jobs.ts';

describe('the queue of mass changes', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
    await publishNew(world, dealer, watch());
  });

  const moved = (): ChannelContext => ({ ...world.channel, publicUrl: 'https://moved.example' });
  const run = (context: ChannelContext = world.channel) => runJobs(context, undefined, 0);
  const setMarkup = (markupBasisPoints: number) =>
    changePresentation(world.channel, TESTER, dealer.organizationId, dealer.integrationId, { markupBasisPoints });
  const jobs = async () =>
    (await listJobs(world.db, dealer.organizationId, 10)).map(({ kind, status }) => `${kind} ${status}`);

  it('is not asked to render a detached channel anew until it is attached', async () => {
    await setOrganization(world.db, TESTER, dealer.integrationId, null);
    await enqueueStaleRenders(moved());
    await run(moved());
    assert.equal(await enqueueStaleRenders(moved()), 0);
    const count = async () =>
      await world.db.query(sql`select id from channel_jobs where integration_id = ${dealer.integrationId}`);
    assert.deepEqual(await count(), []);
    await setOrganization(world.db, TESTER, dealer.integrationId, dealer.organizationId);
    await run(moved());
    assert.equal(await enqueueStaleRenders(moved()), 1);
    await run(moved());
    assert.equal(await enqueueStaleRenders(moved()), 0);
    assert.deepEqual(await jobs(), ['render done', 'refresh done']);
  });

  it('looks for documents of other renderers by index, whichever side of its own they sort', async () => {
    for (const publicUrl of ['https://a.example', 'https://z.example']) {
      await enqueueStaleRenders({ ...world.channel, publicUrl });
      await run({ ...world.channel, publicUrl });
      assert.ok((await enqueueStaleRenders(moved())) >= 1, publicUrl);
      await run(moved());
    }
    const scans = async () => {
      await world.db.query(rawSql('select pg_stat_force_next_flush()'));
      const [row] = await world.db.query<{ seq_scan: number }>(sql`
        select seq_scan from pg_stat_user_tables where relname = 'channel_documents'`);
      return row?.seq_scan;
    };
    await world.db.query(sql`
      insert into channel_documents
      select integration_id, api_version, item_id || n, kind, status, quantity, document, is_unpriceable, valid_until,
        renderer, updated_at
      from channel_documents, generate_series(1, 500) as n where integration_id = ${dealer.integrationId}`);
    await world.db.query(rawSql('analyze channel_documents'));
    const before = await scans();
    assert.equal(await enqueueStaleRenders(moved()), 0);
    assert.equal(await scans(), before);
  });

  it('keeps finished jobs for a while, and others for ever', async () => {
    await setMarkup(100);
    await run();
    await setMarkup(200);
    await pruneJobs(world.db);
    assert.deepEqual(await jobs(), ['refresh pending', 'refresh done']);
    await world.db.query(sql`
      update channel_jobs set
        created_at = created_at - make_interval(days => ${FINISHED_JOB_KEPT_DAYS}),
        finished_at = finished_at - make_interval(days => ${FINISHED_JOB_KEPT_DAYS})
      where integration_id = ${dealer.integrationId}`);
    assert.equal(await pruneJobs(world.db), 1);
    assert.deepEqual(await jobs(), ['refresh pending']);
    assert.equal(await pruneJobs(world.db), 0);
  });
});
