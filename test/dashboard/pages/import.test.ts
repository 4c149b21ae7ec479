import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/sql.ts';
import { startJob } from '../../../src/inventory/jobs/stock-job-queue.ts';
import { startStockJobWorker } from '../../../src/inventory/jobs/stock-job-worker.ts';
import { STOCK_JOB_KINDS_RUN } from '../../../src/service/stock-job-kinds.ts';
import {
  assertAccessible,
  type DashboardSite,
  type Person,
  PHONE_WIDTH,
  settled,
  startDashboard,
} from '../../harness/browser/dashboard-browser.ts';
import { jobContext } from '../../harness/jobs/stock-jobs.ts';
import type { Dealer } from '../../harness/world.ts';

const LINES = 1_000;
const WRONG = 7;

describe('the import of stock in the browser', () => {
  let site: DashboardSite;
  let dealer: Dealer;
  let owner: Person;
  let worker: { stop(): Promise<void> };
  const faults: unknown[] = [];
  before(async () => {
    site = await startDashboard();
    worker = startStockJobWorker(jobContext(site.world), STOCK_JOB_KINDS_RUN, (error) => faults.push(error));
    dealer = await site.world.dealer();
    owner = await site.person(dealer);
  });
  after(async () => {
    await worker.stop();
    await site.stop();
  });

  /** Semicolons and decimal commas, as a spreadsheet in Zürich saves them. Every 140th line has no brand. */
  function stockFile(): Buffer {
    const lines = Array.from({ length: LINES }, (_, index) => {
      const isWrong = index % 140 === 0 && index / 140 < WRONG;
      return `W-${index};Watch ${index};${isWrong ? '' : 'Omega'};Seamaster;Very good;${(index % 500) + 1}.000,50;x`;
    });
    return Buffer.from(`Stock number;Title;Marke;Modell;Zustand;Preis;Remark\n${lines.join('\n')}\n`);
  }

  const count = async () => {
    const [row] = await site.world.db.query<{ count: number }>(sql`
      select count(*)::integer as count from items where organization_id = ${dealer.organizationId}`);
    return row?.count;
  };

  it('takes a file of 1,000 lines with 7 wrong ones: columns, check, import, and the undo', async (t) => {
    const { page, context, complaints } = await site.openAs(owner, '/import');
    t.after(() => context.close());
    await assertAccessible(page, 'the choice of a file');
    const file = { name: 'stock.csv', mimeType: 'text/csv', buffer: stockFile() };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('1,000 watches in 7 columns. One of them is not used.').waitFor();
    assert.equal(await page.getByLabel('Meaning of Marke').first().inputValue(), 'Brand');
    await page.getByLabel('Meaning of Remark').first().fill('Private');
    await page.getByRole('option', { name: 'Private notes' }).click();
    await assertAccessible(page, 'the columns of a file');
    await page.getByRole('button', { name: 'Check all lines' }).click();
    await page.getByText('993 would be created, 7 wrong').waitFor();
    await page.getByText('A new item needs a brand.').first().waitFor();
    await assertAccessible(page, 'the check of a file');
    assert.equal(await count(), 0, 'a check changes nothing');
    // The address is the state: reloading shows the same step.
    await page.reload();
    await settled(page);
    await page.getByRole('button', { name: 'Import 993 valid lines' }).click();
    await page.getByRole('alert').getByText('done: 993 created, 7 wrong').waitFor();
    assert.equal(await count(), LINES - WRONG);
    await assertAccessible(page, 'the result of an import');
    await page.locator('#page').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('993 removed').waitFor();
    assert.equal(await count(), 0);
    await page.getByRole('link', { name: 'Undone' }).waitFor();
    assert.deepEqual(complaints, []);
    assert.deepEqual(faults, []);
  });

  it('refuses what is no table with a sentence, and stays where it is', async (t) => {
    const { page, context } = await site.openAs(owner, '/import');
    t.after(() => context.close());
    const rubbish = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff]);
    await page.locator('input[type=file]').setInputFiles({ name: 'x.csv', mimeType: 'text/csv', buffer: rubbish });
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('neither UTF-8 nor UTF-16').waitFor();
  });

  it('is undone by staff only if they started it: the page of the job says so', async (t) => {
    const { organizationId } = dealer;
    const job = { organizationId, kind: 'import', title: 'Of an owner', parameters: {}, isUndoable: true } as const;
    // One that has ended: the worker must not begin it.
    const id = await site.world.db.transaction(async (tx) => {
      const started = await startJob(tx, { kind: 'person', userId: owner.userId, role: 'owner', address: null }, job);
      await tx.query(sql`
        update stock_jobs set status = 'done', audit_id = 'aud_x', finished_at = clock_timestamp() where id = ${started}`);
      return started;
    });
    const { page, context } = await site.openAs(await site.person(dealer, 'staff'), `/jobs/${id}`);
    t.after(() => context.close());
    await page.getByText('Only owners and the person who started this job can undo it.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
  });

  it('leaves jobs with their results, on a phone and in the dark, too', async (t) => {
    const { page, context, complaints } = await site.openAs(owner, '/jobs', { width: PHONE_WIDTH, scheme: 'dark' });
    t.after(() => context.close());
    await page.getByText('Undo: Import of stock.csv').first().waitFor();
    await assertAccessible(page, 'the jobs on a phone');
    const [job] = await site.world.db.query<{ id: string }>(sql`
      select id from stock_jobs where organization_id = ${dealer.organizationId} and kind = 'import'`);
    await page.goto(`${site.url}/jobs/${job?.id}`);
    await settled(page);
    await page.getByText('A new item needs a brand.').first().waitFor();
    await assertAccessible(page, 'a job on a phone');
    const [check] = await site.world.db.query<{ id: string }>(sql`
      select id from stock_jobs where organization_id = ${dealer.organizationId} and kind = 'import_check'`);
    await page.goto(`${site.url}/jobs/${check?.id}`);
    await page.getByText('993 would be created, 7 wrong').waitFor();
    assert.deepEqual(complaints, []);
  });
});
