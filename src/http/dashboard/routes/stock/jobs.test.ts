import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { explainRead } from '../../../../../test/harness/database/explain.ts';
import { type DashboardClient, signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { kindOverItems, runJobs } from '../../../../../test/harness/jobs/stock-jobs.ts';
import { watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { sql } from '../../../../db/sql.ts';
import { editItems } from '../../../../inventory/items/edit-items.ts';
import { createItem } from '../../../../inventory/items/item-operations.ts';
import { outcomeOfEdits } from '../../../../inventory/jobs/batch-outcome.ts';
import type { StockJobKinds } from '../../../../inventory/jobs/job-kind.ts';
import { listJobs, startJob } from '../../../../inventory/jobs/stock-job-queue.ts';
import { undoKind } from '../../../../inventory/jobs/undo-job.ts';

/** As many as are kept of a job. */
const ERRORS = 20_000;

describe('the jobs of the dashboard', () => {
  let world: World;
  let owner: DashboardClient & { name: string; organizationId: string; userId: string };
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
  });
  after(() => world.stop());

  /** Stands in for any kind that changes items: an item without a title is refused. */
  const retitle = kindOverItems(2, async (tx, context, job, itemIds) => {
    const edits = await editItems(tx, context, job.organizationId, itemIds, () => ({
      title: String(job.parameters.title),
    }));
    return { ...outcomeOfEdits(edits), done: itemIds.length };
  });
  const kinds: StockJobKinds = { undo: undoKind, import: retitle };

  const start = async (title: string, userId = owner.userId) => {
    const { organizationId } = owner;
    const itemIds = [await createItem(world.channel, TESTER, organizationId, watch())];
    return await startJob(
      world.db,
      { kind: 'person', userId, role: 'owner', address: null },
      { organizationId, kind: 'import', title: 'A trial', parameters: { itemIds, title }, isUndoable: true },
    );
  };

  it('show who asked, their progress and result, and what can be done with them', async () => {
    const id = await start('New title');
    const waiting = await owner.call('GET', `/jobs/${id}`);
    assert.partialDeepStrictEqual(waiting.body.job, {
      status: 'queued',
      title: 'A trial',
      asked_by: owner.name,
      can_cancel: true,
      can_undo: false,
    });
    await runJobs(world, { kinds });
    const { body } = await owner.call('GET', '/jobs?limit=1');
    assert.partialDeepStrictEqual(body.data[0], {
      id,
      status: 'done',
      done: 1,
      total: 1,
      counts: { changed: 1 },
      can_cancel: false,
      can_undo: true,
    });
    const undo = await owner.call('POST', `/jobs/${id}/undo`);
    assert.equal(undo.status, 200);
    await runJobs(world, { kinds });
    const undone = await owner.call('GET', `/jobs/${undo.body.job_id}`);
    assert.partialDeepStrictEqual(undone.body.job, {
      kind: 'undo',
      status: 'done',
      undoes: id,
      counts: { changed: 1 },
    });
    const again = await owner.call('POST', `/jobs/${id}/undo`);
    assert.equal(again.status, 409);
    assert.equal(again.body.error.code, 'wrong_status');
  });

  it('are undone by owners and by who started them; others read why they may not', async () => {
    const { organizationId } = owner;
    const [staff, colleague] = [
      await signedIn(world, { organizationId, role: 'staff' }),
      await signedIn(world, { organizationId, role: 'staff' }),
    ];
    const refusal = 'Only owners and the person who started this job can undo it.';
    const read = async (who: DashboardClient, id: string) => (await who.call('GET', `/jobs/${id}`)).body.job;
    const [ofOwner, ofStaff] = [await start('Of the owner'), await start('Of staff', staff.userId)];
    await runJobs(world, { kinds });
    for (const [who, id] of [
      [staff, ofOwner],
      [colleague, ofStaff],
    ] as const) {
      assert.partialDeepStrictEqual(await read(who, id), { can_undo: false, undo_refusal: refusal });
      const { status, body } = await who.call('POST', `/jobs/${id}/undo`);
      assert.deepEqual([status, body.error.code, body.error.message], [403, 'not_allowed', refusal]);
      assert.equal((await read(who, id)).undone_by, null);
    }
    for (const [who, id] of [
      [staff, ofStaff],
      [owner, ofOwner],
    ] as const) {
      assert.partialDeepStrictEqual(await read(who, id), { can_undo: true, undo_refusal: null });
      assert.equal((await who.call('POST', `/jobs/${id}/undo`)).status, 200);
      assert.partialDeepStrictEqual(await read(colleague, id), { can_undo: false, undo_refusal: null });
    }
    const another = await start('Of staff', staff.userId);
    await runJobs(world, { kinds });
    assert.equal((await owner.call('POST', `/jobs/${another}/undo`)).status, 200);
    await runJobs(world, { kinds });
  });

  it('are cancelled, once', async () => {
    const id = await start('Never');
    assert.equal((await owner.call('POST', `/jobs/${id}/cancel`)).status, 204);
    assert.equal((await owner.call('POST', `/jobs/${id}/cancel`)).status, 409);
    await runJobs(world, { kinds });
    assert.partialDeepStrictEqual((await owner.call('GET', `/jobs/${id}`)).body.job, { status: 'cancelled', done: 0 });
  });

  it('name what they could not do, also as a file', async () => {
    const id = await start('');
    await runJobs(world, { kinds });
    const { body } = await owner.call('GET', `/jobs/${id}`);
    assert.partialDeepStrictEqual(body, { job: { error_count: 1, can_undo: false }, errors: [{ field: 'title' }] });
    const file = await owner.call('GET', `/jobs/${id}/errors.csv`);
    assert.match(file.headers.get('content-type') ?? '', /^text\/csv/);
    assert.match(file.text, /^line,stock_number,column,error\r\n,W-\d+,title,/);
  });

  it('are listed without a look at each of their errors', async () => {
    const { organizationId } = owner;
    const ids = [await start('One'), await start('Two')];
    await world.db.query(sql`
      insert into stock_job_errors (job_id, organization_id, number, message)
      select job.id, ${organizationId}, n, 'There is no such location.'
      from unnest(${ids}::text[]) as job (id), generate_series(1, ${ERRORS}) n`);
    const page = { organizationId, from: null, limit: 50 };
    const counts: number[] = [];
    const [read] = await explainRead(world.db, async (db) => {
      for (const { id, errorCount } of await listJobs(db, page)) if (ids.includes(id)) counts.push(errorCount);
    });
    assert.deepEqual(counts, [ERRORS, ERRORS]);
    assert.ok((read?.pages ?? Number.NaN) < 200, `read ${read?.pages} pages`);
  });

  it('are listed by kind and status', async () => {
    const list = async (query: string) => (await owner.call('GET', `/jobs?${query}`)).body;
    assert.ok((await list('kind=undo')).data.every((job: { kind: string }) => job.kind === 'undo'));
    assert.equal((await list('status=cancelled')).count.value, 1);
    assert.equal((await list('q=A%20TRIAL')).count.value, (await list('')).count.value);
    assert.equal((await list('q=nothing')).count.value, 0);
    const first = await list('limit=2');
    const second = await list(`limit=2&after=${first.next_cursor}`);
    const back = await list(`limit=2&before=${second.previous_cursor}`);
    assert.deepEqual(back.data, first.data);
  });
});
