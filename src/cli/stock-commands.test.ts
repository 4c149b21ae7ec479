import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { commandLine, settingsFor } from '../../test/harness/command-line.ts';
import { startWorld, type World } from '../../test/harness/world.ts';
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
