import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { runJobs, undoWhole } from '../../../test/harness/jobs/stock-jobs.ts';
import { watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { createItem, setHidden } from '../items/item-operations.ts';
import { readItem } from '../items/read-item.ts';
import { undoChange } from '../items/undo-change.ts';
import { setPublished } from '../publications.ts';
import type { BulkChange } from './bulk-change.ts';
import { startJob } from './stock-job-queue.ts';

/** A switch has two values, so the value alone does not say whether somebody has decided again since. */
describe('the undo of a job that switched', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
  });
  after(() => world.stop());

  type Switch = { set(id: string, isSet: boolean): Promise<string | null>; change: (isSet: boolean) => BulkChange };
  const hiding: Switch = {
    set: (id, isHidden) => setHidden(world.channel, TESTER, dealer.organizationId, [id], isHidden),
    change: (isHidden) => ({ action: isHidden ? 'hide' : 'show' }),
  };
  const publishing: Switch = {
    set: (id, isOn) => setPublished(world.channel, TESTER, dealer.organizationId, dealer.integrationId, [id], isOn),
    change: (isOn) => ({ action: isOn ? 'publish' : 'unpublish', integrationId: dealer.integrationId }),
  };
  const make = (count: number) =>
    Promise.all(Array.from({ length: count }, () => createItem(world.channel, TESTER, dealer.organizationId, watch())));
  async function runChange(itemIds: string[], change: BulkChange): Promise<string> {
    const id = await startJob(world.db, TESTER, {
      organizationId: dealer.organizationId,
      kind: 'bulk_change',
      title: 'Switch',
      parameters: { selection: { itemIds }, change },
      isUndoable: true,
    });
    await runJobs(world);
    return id;
  }
  const states = (ids: string[], of: Switch) =>
    Promise.all(
      ids.map(async (id) => {
        if (of === hiding) return (await readItem(world.db, dealer.organizationId, id)).isHidden;
        const [row] = await world.db.query<{ isOn: boolean }>(sql`
          select is_on as "isOn" from publications where item_id = ${id} and integration_id = ${dealer.integrationId}`);
        return row?.isOn ?? false;
      }),
    );
  const undo = (jobId: string) => undoWhole(world, dealer.organizationId, jobId);

  for (const [name, of] of [
    ['hiding', hiding],
    ['a channel', publishing],
  ] as const) {
    it(`${name} leaves what a person or another job has decided since, and names it`, async () => {
      const ids = await make(3);
      const [decided = '', byJob = ''] = ids;
      const jobId = await runChange(ids, of.change(true));
      await of.set(decided, false);
      await of.set(decided, true);
      await runChange([byJob], of.change(false));
      await runChange([byJob], of.change(true));
      const { counts, errors } = await undo(jobId);
      assert.deepEqual(await states(ids, of), [true, true, false]);
      assert.deepEqual([counts.changed, counts.skipped], [1, 2]);
      assert.deepEqual(
        errors.map(([, , message]) => message),
        ['Changed since, and left as it is.', 'Changed since, and left as it is.'],
      );
    });

    it(`${name} takes back what a later change and its own undo left as it was`, async () => {
      const ids = await make(2);
      const [person = '', job = ''] = ids;
      const jobId = await runChange(ids, of.change(true));
      const later = await of.set(person, false);
      await undoChange(world.channel, TESTER, dealer.organizationId, later ?? '', { isCostAllowed: true });
      await undo(await runChange([job], of.change(false)));
      assert.deepEqual(await states(ids, of), [true, true]);
      assert.deepEqual((await undo(jobId)).errors, []);
      assert.deepEqual(await states(ids, of), [false, false]);
    });

    it(`${name} takes back what somebody had switched while the job ran, before it came to the item`, async () => {
      const ids = await make(1);
      const [id = ''] = ids;
      await of.set(id, true);
      await of.set(id, false);
      const jobId = await runChange(ids, of.change(true));
      // As if the job had begun, with its row in the log, before the person did this.
      await world.db.query(sql`
        update audit_log set at = (select min(at) - interval '1 s' from audit_log
          where organization_id = ${dealer.organizationId} and object_id = ${id})
        where organization_id = ${dealer.organizationId} and new_values ->> 'jobId' = ${jobId}`);
      assert.deepEqual((await undo(jobId)).errors, []);
      assert.deepEqual(await states(ids, of), [false]);
    });
  }
});
