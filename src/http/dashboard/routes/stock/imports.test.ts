import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { type DashboardClient, signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { runJobs } from '../../../../../test/harness/jobs/stock-jobs.ts';
import { watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { IMPORT_FILE_LIMIT_MB } from '../../../../contract/dashboard/limits.ts';
import { sql } from '../../../../db/sql.ts';
import { createItem } from '../../../../inventory/items/item-operations.ts';

const TEXT =
  'SKU;Name;Marke;Modell;Zustand;Preis;EK;Something\nW-1;A watch;Omega;Seamaster;Good;5.000,00;4000;x\nW-2;;;;;;;\n';

describe('imports and exports of the dashboard', () => {
  let world: World;
  let owner: DashboardClient & { organizationId: string; userId: string };
  let staff: DashboardClient & { organizationId: string; userId: string };
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
  });
  after(() => world.stop());

  async function upload(
    person: DashboardClient,
    body: string | Buffer<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) {
    const response = await fetch(`${world.origin}/api/dashboard/imports?kind=listing&name=stock.csv`, {
      method: 'POST',
      headers: {
        origin: world.channel.publicUrl,
        cookie: person.cookie(),
        'content-type': 'application/octet-stream',
        ...headers,
      },
      body,
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it.
    return { status: response.status, body: (await response.json()) as any };
  }

  it('guess the columns of a file, check it, import it and remember the columns', async () => {
    const { body, status } = await upload(owner, TEXT);
    assert.equal(status, 200);
    const file = (await owner.call('GET', `/imports/${body.file_id}`)).body;
    assert.partialDeepStrictEqual(file, { name: 'stock.csv', kind: 'listing', line_count: 2 });
    assert.deepEqual(file.mapping, ['stock_number', 'title', 'brand', 'model', 'condition', 'price', 'cost', '']);
    assert.deepEqual(file.headings[0], { heading: 'SKU', samples: ['W-1', 'W-2'] });
    const mapping = [...file.mapping.slice(0, 7), 'private_notes'];
    const check = await owner.call('POST', `/imports/${file.id}/check`, { mapping });
    await runJobs(world);
    const checked = (await owner.call('GET', `/jobs/${check.body.job_id}`)).body;
    assert.partialDeepStrictEqual(checked.job, { status: 'done', counts: { created: 1, wrong: 1 }, can_undo: false });
    const started = await owner.call('POST', `/imports/${file.id}/run`, { mapping });
    await runJobs(world);
    const done = (await owner.call('GET', `/jobs/${started.body.job_id}`)).body;
    assert.partialDeepStrictEqual(done.job, { status: 'done', counts: { created: 1, wrong: 1 }, can_undo: true });
    const errors = await owner.call('GET', `/jobs/${started.body.job_id}/errors.csv`);
    const [header, line] = errors.text.split('\r\n');
    assert.equal(header, 'SKU,Name,Marke,Modell,Zustand,Preis,EK,Something,line,error');
    assert.match(line ?? '', /^W-2,,,,,,,,3,"?title: A new item needs a title\./);
    const again = await upload(owner, TEXT);
    assert.deepEqual((await owner.call('GET', `/imports/${again.body.file_id}`)).body.mapping, mapping);
  });

  it('refuse a mapping without the stock number, with a column twice or unknown, or of another length', async () => {
    const { body } = await upload(owner, 'a,b\n1,2\n');
    for (const mapping of [
      ['', 'title'],
      ['stock_number', 'stock_number'],
      ['stock_number', 'nonsense'],
      ['stock_number'],
    ]) {
      const answer = await owner.call('POST', `/imports/${body.file_id}/check`, { mapping });
      assert.equal(answer.status, 400, mapping.join());
      assert.equal(answer.body.error.field, 'mapping');
    }
  });

  it('refuse a file that is too large before it is read, and one that is no table with a sentence', async () => {
    const large = await upload(owner, Buffer.alloc((IMPORT_FILE_LIMIT_MB + 1) * 1_048_576, 'x'));
    assert.equal(large.status, 413);
    assert.match(large.body.error.message, /at most 20 MB/);
    const binary = await upload(owner, Buffer.from([0x50, 0x4b, 3, 4, 0, 0xff, 0xfe, 0x80]));
    assert.equal(binary.status, 400);
    assert.match(binary.body.error.message, /UTF-8/);
  });

  it('neither show nor take cost prices from staff, unless an owner has opened them', async () => {
    await createItem(world.channel, TESTER, owner.organizationId, watch({ stockNumber: 'C-1', costAmount: 12_300 }));
    const { body } = await upload(staff, 'stock_number,cost\nC-1,1\n');
    const file = (await staff.call('GET', `/imports/${body.file_id}`)).body;
    assert.deepEqual(file.mapping, ['stock_number', '']);
    const refused = await staff.call('POST', `/imports/${file.id}/run`, { mapping: ['stock_number', 'cost'] });
    assert.equal(refused.status, 400);
    const shown = await staff.call('GET', '/stock/export.csv?kind=listing');
    assert.match(shown.text, /C-1/);
    assert.doesNotMatch(shown.text, /cost|123\.00/);
    assert.match((await owner.call('GET', '/stock/export.csv?kind=listing')).text, /123\.00/);
  });

  it('keep the cost prices of an owner’s import from staff: its errors as a file and one by one, and its undo', async () => {
    const { organizationId } = owner;
    const id = await createItem(world.channel, TESTER, organizationId, watch({ stockNumber: 'C-2', costAmount: 100 }));
    const text = 'stock_number,title,cost,EK\nC-2,Changed,777.00,888.00\nC-3,,777.00,888.00\nC-4,x,about 777 or so,\n';
    const { body } = await upload(owner, text);
    const mapping = ['stock_number', 'title', 'cost', ''];
    const { job_id: jobId } = (await owner.call('POST', `/imports/${body.file_id}/run`, { mapping })).body;
    await runJobs(world);
    assert.match((await owner.call('GET', `/jobs/${jobId}/errors.csv`)).text, /C-3,,777\.00,888\.00,/);
    for (const path of [`/jobs/${jobId}/errors.csv`, `/jobs/${jobId}`]) {
      const shown = await staff.call('GET', path);
      assert.equal(shown.status, 200);
      assert.doesNotMatch(shown.text, /777|888/, path);
    }
    const refused = await staff.call('POST', `/jobs/${jobId}/undo`);
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'not_allowed']);
    // The person who started it was an owner then.
    await world.db.query(sql`
      update stock_jobs set actor = jsonb_set(actor, '{userId}', to_jsonb(${staff.userId}::text)) where id = ${jobId}`);
    const undo = await staff.call('POST', `/jobs/${jobId}/undo`);
    assert.equal(undo.status, 200);
    await runJobs(world);
    const item = (await owner.call('GET', `/items/${id}`)).body;
    assert.notEqual(item.title, 'Changed');
    assert.equal(item.cost_amount, 77_700);
    const { errors } = (await staff.call('GET', `/jobs/${undo.body.job_id}`)).body;
    assert.partialDeepStrictEqual(errors, [
      { item_id: id, field: 'costAmount', message: 'Only owners may set the cost price.' },
    ]);
  });

  it('belong to who uploaded them: staff who see no cost prices can’t import an owner’s file', async () => {
    const { organizationId } = owner;
    await createItem(world.channel, TESTER, organizationId, watch({ stockNumber: 'C-5' }));
    // Nothing says that the last column is a cost price.
    const { body } = await upload(owner, 'stock_number,Netto\nC-5,666.00\nC-6,666.00\n');
    const mapping = ['stock_number', 'private_notes'];
    const run = `/imports/${body.file_id}/run`;
    for (const [method, path] of [
      ['GET', `/imports/${body.file_id}`],
      ['POST', run],
      ['POST', `/imports/${body.file_id}/check`],
      ['POST', `/imports/${body.file_id}/photos`],
    ] as const) {
      const refused = await staff.call(method, path, method === 'GET' ? undefined : { mapping });
      assert.equal(refused.status, 404, path);
      assert.equal(refused.body.error.field, 'file');
    }
    const started = await owner.call('POST', run, { mapping: ['stock_number', ''] });
    await runJobs(world);
    const errors = await staff.call('GET', `/jobs/${started.body.job_id}/errors.csv`);
    assert.match(errors.text, /C-6/);
    assert.doesNotMatch(errors.text, /666/);
    const open = (isOpen: boolean) => owner.call('PUT', '/business/cost-access', { staff_sees_cost: isOpen });
    assert.equal((await open(true)).status, 200);
    assert.equal((await staff.call('GET', `/imports/${body.file_id}`)).status, 200);
    await open(false);
  });

  it('export what a filter matches', async () => {
    await createItem(world.channel, TESTER, owner.organizationId, watch({ stockNumber: 'F-1', title: 'Findable one' }));
    const { text, headers } = await owner.call('GET', '/stock/export.csv?kind=listing&q=findable');
    assert.match(headers.get('content-disposition') ?? '', /watches\.csv/);
    assert.deepEqual(
      text
        .trim()
        .split('\r\n')
        .map((line) => line.split(',')[0]),
      ['stock_number', 'F-1'],
    );
  });
});
