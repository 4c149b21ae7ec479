import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { IMPORT_HEADER, importedRows, importText } from '../../../test/harness/jobs/stock-files.ts';
import { jobContext, undoWhole } from '../../../test/harness/jobs/stock-jobs.ts';
import { observe } from '../../../test/harness/observe.ts';
import { part, publishNew, watch } from '../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../test/harness/world.ts';
import { sql } from '../../db/sql.ts';
import { sellUnits } from '../../sales/sell.ts';
import { exportStock } from '../csv/stock-export.ts';
import { createItem } from '../items/item-operations.ts';
import type { RunningJob } from '../jobs/job-kind.ts';
import { cancelJob, findJob } from '../jobs/stock-job-queue.ts';
import { createBusinessUnit, createLocation } from '../locations.ts';
import { startPromotion } from '../promotions.ts';
import { reserveUnits } from '../units/movements.ts';
import { IMPORT_FILE_KEPT_DAYS, IMPORT_FILES_LIMIT, pruneImportFiles, storeImportFile } from './import-files.ts';
import { nextLines } from './import-lines.ts';

describe('an import of stock', () => {
  let world: World;
  let dealer: Dealer;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
  });

  const run = (text: string | Buffer, options?: Parameters<typeof importText>[3]) =>
    importText(world, dealer.organizationId, text, options);
  const rows = () => importedRows(world, dealer.organizationId);
  const undo = (jobId: string) => undoWhole(world, dealer.organizationId, jobId);
  async function exported(kind: 'listing' | 'part', seesCost = true): Promise<string> {
    const options = { seesCost, publicUrl: world.channel.publicUrl, now: null };
    const pieces: string[] = [];
    for await (const piece of exportStock(world.db, { organizationId: dealer.organizationId, kind }, options)) {
      pieces.push(piece);
    }
    return pieces.join('');
  }

  it('creates, changes and leaves items by their stock number; the check says the same before and changes nothing', async () => {
    await createItem(world.channel, TESTER, dealer.organizationId, watch({ stockNumber: 'W-1', priceAmount: 100 }));
    await createItem(world.channel, TESTER, dealer.organizationId, watch({ stockNumber: 'W-2', title: 'Same' }));
    const text = `${IMPORT_HEADER}
W-1,,,,,"12'990,50",
W-2,Same,,,,,
W-3,New one,Omega,Speedmaster,Very good,5000,1
W-4,No brand,,Speedmaster,Very good,,
W-5,Bad price,Omega,Speedmaster,Very good,cheap,
,No number,Omega,Speedmaster,Very good,,
W-3,Again,Omega,Speedmaster,Very good,,
`;
    const check = await run(text, { isCheck: true });
    const counts = { created: 1, changed: 1, unchanged: 1, wrong: 4 };
    assert.partialDeepStrictEqual(check, { status: 'done', counts });
    assert.deepEqual(
      check.errors.map(([line, field]) => [line, field]),
      [
        [5, 'brand'],
        [6, 'price'],
        [7, 'stock_number'],
        [8, 'stock_number'],
      ],
    );
    assert.match(check.errors[3]?.[2] ?? '', /line 4 already/);
    assert.equal((await rows()).length, 2);
    const done = await run(text);
    assert.partialDeepStrictEqual(done, { status: 'done', counts });
    assert.deepEqual(done.errors, check.errors);
    assert.partialDeepStrictEqual(await rows(), [
      { stock_number: 'W-1', price_amount: 1_299_050 },
      { stock_number: 'W-2', title: 'Same' },
      { stock_number: 'W-3', title: 'New one', price_amount: 500_000, units: 1, brand: 'Omega' },
    ]);
    const again = await run(text);
    assert.partialDeepStrictEqual(again.counts, { created: 0, changed: 0, unchanged: 3, wrong: 4 });
  });

  it('names each fault of a line once: a cell that can’t be read is not missing as well', async () => {
    const text = `${IMPORT_HEADER}\nW-1,Title,Omega,Seamaster,Superb,100,1\nW-2,Title,Omega,Seamaster,,100,1\n`;
    for (const isCheck of [true, false]) {
      const { errors } = await run(text, { isCheck });
      assert.deepEqual(
        errors.map(([line, field]) => [line, field]),
        [
          [2, 'condition'],
          [3, 'condition'],
        ],
      );
    }
  });

  it('of two lines with the same stock number takes the first, whatever blanks or apostrophes stand beside it', async () => {
    const { organizationId, integrationId } = dealer;
    await createItem(world.channel, TESTER, organizationId, watch({ stockNumber: 'W-1', title: 'As it was' }));
    const line = (number: string, title: string) => `${number},${title},Omega,Seamaster,Good,1,1,${integrationId}\n`;
    const text = [
      `${IMPORT_HEADER},channels\n`,
      ...['W-1', 'W-1\u00a0', 'W-1\t', '"W-1\n"', ' W-1'].map((number, index) => line(number, `Title ${index}`)),
      ...['X-1', 'X-1\u00a0', "'=X", '=X'].map((number, index) => line(number, `New ${index}`)),
    ].join('');
    const check = await run(text, { isCheck: true });
    const done = await run(text);
    for (const result of [check, done]) {
      assert.partialDeepStrictEqual(result, { status: 'done', counts: { created: 2, changed: 1, wrong: 6 } });
      assert.deepEqual(
        result.errors.map(([lineNumber, field]) => [lineNumber, field]),
        [3, 4, 5, 7, 9, 11].map((lineNumber) => [lineNumber, 'stock_number']),
      );
    }
    assert.deepEqual(
      (await rows()).map((row) => row.title),
      ['New 2', 'Title 0', 'New 0'],
    );
  });

  it('of two lines with the same stock number in one batch takes the first, also if nobody has noted their numbers', async () => {
    const { organizationId } = dealer;
    const bytes = Buffer.from('stock_number,title\nW-1,One\n"W-1 ",Two\n,Three\n,Four\n');
    const fileId = await storeImportFile(world.db, organizationId, { name: 'x.csv', kind: 'listing', bytes });
    const parameters = { fileId, kind: 'listing', mapping: ['stock_number', 'title'], hasPhotos: false };
    const job = { organizationId, parameters } as unknown as RunningJob;
    const next = await nextLines(jobContext(world), job, 0, 10);
    const messages = next?.lines.map(({ errors }) => errors.map(({ message }) => message).join());
    const none = 'The line has no stock number.';
    assert.deepEqual(messages, ['', 'The stock number stands in line 2 already.', none, none]);
  });

  it('names a stock number that is too long, and takes the other lines', async () => {
    const long = Array.from({ length: 20_000 }, () =>
      String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000)),
    );
    const done = await run(
      `${IMPORT_HEADER}\n${long.join('')},A,Omega,Seamaster,Good,1,1\nW-1,A,Omega,Seamaster,Good,1,1\n`,
    );
    assert.partialDeepStrictEqual(done, { status: 'done', counts: { created: 1, wrong: 1 } });
    assert.match(done.errors[0]?.[2] ?? '', /100 characters/);
  });

  it('publishes and takes off by the column channels, with events; its undo announces the removal', async () => {
    const on = await publishNew(world, dealer, watch({ stockNumber: 'W-1' }));
    const text = `${IMPORT_HEADER},channels\nW-1,,,,,,,none\nW-2,New,Omega,Seamaster,Good,1,1,${dealer.integrationId}\n`;
    let jobId = '';
    const seen = await observe(dealer.api, async () => {
      const { counts, ...result } = await run(text);
      jobId = result.jobId;
      assert.partialDeepStrictEqual(counts, { created: 1, changed: 1 });
    });
    assert.deepEqual(seen.types.toSorted(), ['listing.published', 'listing.unpublished']);
    const undone = await observe(dealer.api, () => undo(jobId));
    assert.deepEqual(undone.types.toSorted(), ['listing.published', 'listing.unpublished']);
    assert.equal((await dealer.api.get(`/v1/listings/${on}`)).body.status, 'active');
  });

  it('never raises the units of a sold or reserved item, unless the column restock says so', async () => {
    const ids = [];
    for (const stockNumber of ['W-1', 'W-2', 'W-3']) {
      ids.push(await createItem(world.channel, TESTER, dealer.organizationId, watch({ stockNumber })));
    }
    const [sold = '', reserved = ''] = ids;
    await sellUnits(world.channel, TESTER, dealer.organizationId, sold, 1);
    await reserveUnits(world.channel, TESTER, dealer.organizationId, reserved, 1);
    const lines = (restock: string) => `stock_number,units,restock\nW-1,1,${restock}\nW-2,1,${restock}\nW-3,3,\n`;
    const check = await run(lines(''), { isCheck: true });
    assert.partialDeepStrictEqual(check.counts, { changed: 1, unchanged: 2, units_kept: 2 });
    assert.partialDeepStrictEqual((await run(lines(''))).counts, { changed: 1, unchanged: 2, units_kept: 2 });
    const units = async () => (await rows()).map((row) => row.units);
    assert.deepEqual(await units(), [0, 1, 3]);
    assert.partialDeepStrictEqual((await run(lines('yes'))).counts, { changed: 2, unchanged: 1 });
    assert.deepEqual(await units(), [1, 2, 3]);
  });

  it('reads semicolons, decimal commas and UTF-16; an empty cell keeps, the word none clears', async () => {
    const itemId = await createItem(
      world.channel,
      TESTER,
      dealer.organizationId,
      watch({ stockNumber: 'W-1', serialNumber: 'S-1' }),
    );
    const text = 'Artikelnummer;Preis;Durchmesser;Seriennummer;Year;Case diameter (mm)\nW-1;12.990,5;;none;;40,5\n';
    const done = await run(Buffer.from(`\ufeff${text}`, 'utf16le'));
    assert.partialDeepStrictEqual(done.counts, { changed: 1 });
    const [row] = await world.db.query(sql`
      select price_amount, serial_number, (attributes ->> 'case_diameter_mm')::float as diameter,
        attributes ->> 'year' as year from items where id = ${itemId}`);
    assert.deepEqual(row, { price_amount: 1_299_050, serial_number: null, diameter: 40.5, year: '2023' });
  });

  it('clears lists by the word none', async () => {
    const { organizationId } = dealer;
    await createItem(world.channel, TESTER, organizationId, watch({ stockNumber: 'W-1' }));
    await createItem(world.channel, TESTER, organizationId, part({ stockNumber: 'P-1' }));
    await run('stock_number,complications,additional_details\nW-1,none,None\n');
    await run('stock_number,compatibility\nP-1,none\n', { kind: 'part' });
    const items = await world.db.query<{ attributes: Record<string, unknown> }>(sql`
      select attributes from items where organization_id = ${organizationId} order by stock_number`);
    const [ofPart, ofWatch] = items.map(({ attributes }) => attributes);
    assert.deepEqual(ofPart?.compatibility, []);
    assert.deepEqual([ofWatch?.complications, ofWatch?.additional_details], [[], []]);
  });

  it('names what a line may not do: another kind, a price below a promotion, an unknown location or channel', async () => {
    await createItem(world.channel, TESTER, dealer.organizationId, part({ stockNumber: 'P-1' }));
    const promoted = await createItem(world.channel, TESTER, dealer.organizationId, watch({ stockNumber: 'W-1' }));
    const promotion = { priceAmount: 1_000_000, startsAt: new Date(), endsAt: null };
    await startPromotion(world.channel, TESTER, dealer.organizationId, promoted, promotion);
    const text = `stock_number,price,location,channels,year\nP-1,1,,,\nW-1,5,,,\nW-2,,Nowhere,,\nW-3,,,int_x,\nW-1b,,,,20000\n`;
    const done = await run(text);
    const found = new Set(done.errors.map(([line, field]) => `${line} ${field}`));
    for (const wanted of ['2 stock_number', '3 price', '4 location', '5 channels', '6 title'])
      assert.ok(found.has(wanted), wanted);
    const wrongYear = await run('stock_number,year\nW-1,20000\n', { isCheck: true });
    assert.deepEqual(
      wrongYear.errors.map(([, field]) => field),
      ['year'],
    );
  });

  it('finds locations by name, or by unit and name', async () => {
    const { organizationId } = dealer;
    const [geneva, zurich] = [
      await createBusinessUnit(world.db, TESTER, organizationId, 'Geneva'),
      await createBusinessUnit(world.db, TESTER, organizationId, 'Zürich'),
    ];
    await createLocation(world.db, TESTER, organizationId, geneva, 'Safe');
    const safe = await createLocation(world.db, TESTER, organizationId, zurich, 'Safe');
    await createItem(world.channel, TESTER, organizationId, watch({ stockNumber: 'W-1' }));
    const ambiguous = await run('stock_number,location\nW-1,safe\n', { isCheck: true });
    assert.match(ambiguous.errors[0]?.[2] ?? '', /several locations/);
    assert.partialDeepStrictEqual((await run('stock_number,location\nW-1,Zürich / Safe\n')).counts, { changed: 1 });
    assert.deepEqual(await world.db.query(sql`select location_id from items where location_id = ${safe}`), [
      { location_id: safe },
    ]);
  });

  it('of an exported file changes nothing, for watches and parts, formulas and all', async () => {
    const { organizationId } = dealer;
    const unit = await createBusinessUnit(world.db, TESTER, organizationId, 'Geneva');
    const locationId = await createLocation(world.db, TESTER, organizationId, unit, 'Safe');
    await publishNew(
      world,
      dealer,
      watch({
        title: '=1+1',
        description: 'One.\n\n"Two"; three,\n',
        locationId,
        costAmount: 5,
        privateNotes: '-x',
        serialNumber: '007',
      }),
    );
    await createItem(world.channel, TESTER, organizationId, watch({ priceAmount: null, units: 0 }));
    const fits = [
      { brand: 'Patek Philippe', model: 'Nautilus', reference_number: '5711/1A-010', caliber: null },
      { brand: null, model: 'Sub | Date / blue', reference_number: null, caliber: '%7C' },
    ];
    await publishNew(
      world,
      dealer,
      part({ title: '@part', attributes: { ...part().attributes, compatibility: fits } }),
    );
    await createItem(world.channel, TESTER, organizationId, part({ title: "'=part" }));
    for (const kind of ['listing', 'part'] as const) {
      const text = await exported(kind);
      const done = await run(text, { kind });
      assert.deepEqual(done.errors, []);
      assert.partialDeepStrictEqual(done.counts, { created: 0, changed: 0, unchanged: 2, wrong: 0 });
    }
    assert.match(await exported('listing'), /,'=1\+1,/);
    assert.match(await exported('listing'), /,cost,/);
    assert.doesNotMatch(await exported('listing', false), /cost/);
  });

  it('of an exported file keeps texts that are the word none', async () => {
    const { organizationId } = dealer;
    const attributes = { ...watch().attributes, model: 'None', reference_number: 'none' };
    const texts = { title: 'None', serialNumber: 'None', description: 'NONE', privateNotes: "'none" };
    await createItem(world.channel, TESTER, organizationId, watch({ stockNumber: 'None', ...texts, attributes }));
    const text = await exported('listing');
    assert.match(text, /^None,'None,'NONE,/m);
    assert.match(text, /,''none,/);
    const same = await run(text);
    assert.deepEqual(same.errors, []);
    assert.partialDeepStrictEqual(same.counts, { created: 0, changed: 0, unchanged: 1, wrong: 0 });
    await run('stock_number,serial_number,description,private_notes,reference_number\nNone,none,None,NONE,none\n');
    const [row] = await world.db.query(sql`
      select serial_number, description, private_notes, attributes ->> 'reference_number' as reference from items
      where organization_id = ${organizationId}`);
    assert.deepEqual(row, { serial_number: null, description: '', private_notes: '', reference: null });
  });

  it('that is cancelled keeps what is done, and the undo takes it back', async () => {
    const lines = Array.from({ length: 250 }, (_, index) => `W-${index},Watch ${index},Omega,Seamaster,Good,1,1`);
    const bytes = Buffer.from(`${IMPORT_HEADER}\n${lines.join('\n')}\n`);
    let cancelling: Promise<void> | null = null;
    const context = {
      notifyDashboards: (organizationId: string, kind: string, ids: readonly string[] | null) => {
        const [jobId = ''] = ids ?? [];
        if (kind === 'job') cancelling ??= cancelJob(world.db, organizationId, jobId);
      },
    };
    const text = bytes.toString();
    const done = await importText(world, dealer.organizationId, text, { context });
    await cancelling;
    assert.equal((await findJob(world.db, dealer.organizationId, done.jobId)).status, 'cancelled');
    const count = (await rows()).length;
    assert.ok(count >= 100 && count < 250, String(count));
    await undo(done.jobId);
    assert.equal((await rows()).length, 0);
  });

  it('reads a large file in a thread of its own, and files that are no table are refused with a sentence', async () => {
    const { organizationId } = dealer;
    const lines = Array.from({ length: 20_000 }, (_, index) => `W-${index},${'x'.repeat(800)}`);
    const bytes = Buffer.from(`stock_number,description\n${lines.join('\n')}\n`);
    // The CPU time of this thread in one go, not the time that passes: the machine may be busy with something else.
    const cpuMs = () => process.threadCpuUsage().user / 1_000;
    let longestMs = 0;
    let last = cpuMs();
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, cpuMs() - last);
      last = cpuMs();
    }, 5);
    try {
      await storeImportFile(world.db, organizationId, { name: 'large.csv', kind: 'listing', bytes });
    } finally {
      clearInterval(timer);
    }
    assert.ok(longestMs < 500, `the event loop did nothing else for ${longestMs} ms of CPU time`);
    for (const [rubbish, message] of [
      [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]), /UTF-8|binary/],
      [Buffer.from(''), /empty/],
      [Buffer.from('stock_number\n'), /no lines/],
    ] as const) {
      await assert.rejects(
        storeImportFile(world.db, organizationId, { name: 'x.csv', kind: 'listing', bytes: rubbish }),
        { name: 'DomainError', message },
      );
    }
    const files = await world.db.query(sql`select id from stock_files where organization_id = ${organizationId}`);
    assert.equal(files.length, 1);
  });

  it('keeps the last files of a dealer, for some days', async () => {
    const { organizationId } = dealer;
    for (let index = 0; index < IMPORT_FILES_LIMIT + 2; index++) {
      await storeImportFile(world.db, organizationId, {
        name: `${index}.csv`,
        kind: 'listing',
        bytes: Buffer.from('stock_number\nW-1\n'),
      });
    }
    const count = async () =>
      (await world.db.query(sql`select id from stock_files where organization_id = ${organizationId}`)).length;
    assert.equal(await count(), IMPORT_FILES_LIMIT);
    await world.db.query(sql`
      update stock_files set created_at = now() - make_interval(days => ${IMPORT_FILE_KEPT_DAYS + 1})
      where organization_id = ${organizationId}`);
    while ((await pruneImportFiles(world.db)) > 0);
    assert.equal(await count(), 0);
  });
});
