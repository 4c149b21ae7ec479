import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import sharp from 'sharp';
import { commandLine, settingsFor } from '../../test/harness/command-line.ts';
import { makeZip } from '../../test/harness/jobs/zip.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../ids/new-id.ts';

const HEADER = 'stock_number,title,brand,model,condition,price,colour of the strap';

describe('the stock commands', () => {
  let world: World;
  let folder: string;
  let organizationId: string;
  const { run, json, refusal } = commandLine(() => settingsFor(world));
  before(async () => {
    world = await startWorld();
    folder = await mkdtemp(join(tmpdir(), 'crownwheel-stock-'));
    organizationId = (await world.dealer()).organizationId;
  });
  after(async () => {
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function file(name: string, text: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  }

  it('check and import a file; a nightly run learns by the exit code whether lines were wrong', async () => {
    const right = await file('right.csv', `${HEADER}\nW-1,One,Omega,Seamaster,Good,100,red\n`);
    const check = await json('stock', 'import', right, '--organization', organizationId, '--dry-run');
    assert.partialDeepStrictEqual(check, {
      object: 'stock_import_check',
      status: 'done',
      counts: { created: 1, wrong: 0 },
      ignored_columns: ['colour of the strap'],
    });
    const first = await json('stock', 'import', right, '--organization', organizationId);
    assert.partialDeepStrictEqual(first, { object: 'stock_import', counts: { created: 1 } });
    const second = await json('stock', 'import', right, '--organization', organizationId);
    assert.partialDeepStrictEqual(second, { counts: { created: 0, changed: 0, unchanged: 1 } });
    const wrong = await file('wrong.csv', `${HEADER}\nW-1,One,,,,cheap,\nW-2,Two,Omega,Seamaster,Good,1,\n`);
    const errors = join(folder, 'errors.csv');
    const { code, out } = await run('stock', 'import', wrong, '--organization', organizationId, '--errors', errors);
    assert.equal(code, 2);
    assert.match(out, /wrong\s+1/);
    assert.match(await readFile(errors, 'utf8'), /W-1,One,,,,cheap,,2,price: Price must be a number\./);
  });

  it('export what was imported, so that importing it again changes nothing', async () => {
    const path = join(folder, 'export.csv');
    const written = await json('stock', 'export', path, '--organization', organizationId);
    assert.ok(written.bytes > 100);
    const again = await json('stock', 'import', path, '--organization', organizationId);
    assert.partialDeepStrictEqual(again.counts, { created: 0, changed: 0, unchanged: 2, wrong: 0 });
  });

  it('map headings as --map says, and remember it for the next night', async () => {
    const header = 'Our code,title,brand,model,condition,price,Preis = netto';
    const path = await file('mapped.csv', `${header}\nM-1,Mapped,Omega,Seamaster,Good,1,250\n`);
    const args = ['stock', 'import', path, '--organization', organizationId];
    assert.match(await refusal(...args), /stock number/);
    assert.match(await refusal(...args, '--map', 'Code=stock_number'), /no column "Code".*Our code/);
    assert.match(await refusal(...args, '--map', 'title=colour of it'), /no column colour of it.*stock_number/);
    assert.match((await run(...args, '--map', 'stock_number')).err, /equals sign/);
    const mapped = await json(...args, '--map', 'our code=stock_number', '--map', 'Preis = netto=price');
    assert.partialDeepStrictEqual(mapped, { counts: { created: 1 }, ignored_columns: ['price'] });
    const [item] = await world.db.query<{ price: number }>(sql`
      select price_amount as price from items where organization_id = ${organizationId} and stock_number = 'M-1'`);
    assert.equal(Number(item?.price), 25_000);
    assert.partialDeepStrictEqual(await json(...args), { counts: { unchanged: 1 }, ignored_columns: ['price'] });
    const left = await json(...args, '--map', 'title=');
    assert.deepEqual(left.ignored_columns, ['title', 'price']);
  });

  it('import the photos of a zip by the stock numbers in their names', async () => {
    const path = await file('photos.csv', `${HEADER}\nZ-1,Zipped,Omega,Seamaster,Good,100,\n`);
    const picture = await sharp({ create: { width: 40, height: 40, channels: 3, background: '#345' } })
      .jpeg()
      .toBuffer();
    const zip = join(folder, 'photos.zip');
    await writeFile(zip, makeZip(['Z-1.jpg', 'Z-1-2.jpg'].map((name) => ({ name, bytes: picture }))));
    const args = ['stock', 'import', path, '--organization', organizationId];
    assert.partialDeepStrictEqual(await json(...args, '--photos', zip), { counts: { created: 1, wrong: 0 } });
    const [item] = await world.db.query<{ photos: number }>(sql`
      select photo_count as photos from items where organization_id = ${organizationId} and stock_number = 'Z-1'`);
    assert.equal(item?.photos, 2);
    assert.match(await refusal(...args, '--photos', join(folder, 'nothing.zip')), /can't be read/);
    assert.match(await refusal(...args, '--photos', path), /zip/);
  });

  it('refuse an unknown dealer, a file that is missing and one that is no table', async () => {
    const table = await file('table.csv', 'stock_number\nW-1\n');
    assert.match(await refusal('stock', 'import', table, '--organization', newId('organization')), /no organization/);
    assert.match(
      await refusal('stock', 'import', join(folder, 'nothing.csv'), '--organization', organizationId),
      /can't be read/,
    );
    const rubbish = await file('rubbish.csv', '\0\0\0');
    assert.match(await refusal('stock', 'import', rubbish, '--organization', organizationId), /binary/);
    const other = await file('other.csv', 'a,b\n1,2\n');
    assert.match(await refusal('stock', 'import', other, '--organization', organizationId), /stock number/);
  });
});
