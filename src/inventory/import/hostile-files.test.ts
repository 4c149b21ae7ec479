import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { importText } from '../../../test/harness/jobs/stock-files.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { runAtOnce } from '../../concurrency/time-slices.ts';
import { CellError, choices, photos } from '../csv/cells.ts';
import { stockColumns } from '../csv/stock-columns.ts';
import { jobErrorLines } from '../jobs/error-file.ts';
import { findJob } from '../jobs/stock-job-queue.ts';
import type { LocationEntry } from '../locations.ts';
import { inOrderOfNames } from './photo-zip.ts';
import { locationIndexSteps, planLine } from './plan-line.ts';

/** The CPU time of some work, in milliseconds. */
function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const LOCATIONS: LocationEntry[] = Array.from({ length: 1_000 }, (_, index) => ({
  id: `loc_${index}`,
  name: `${index} ${'İé'.repeat(240)}`,
  businessUnitId: 'bu_1',
  businessUnit: 'Unit',
}));

describe('files that are made to take long', () => {
  it('a line costs the same however many locations there are and however long their names', () => {
    const columns = stockColumns('listing', 'USD').filter(({ name }) => ['stock_number', 'location'].includes(name));
    const location = columns.findIndex(({ name }) => name === 'location');
    const lineAt = (name: string) => {
      const cells = columns.map((_, index) => (index === location ? name : 'W-1'));
      return { number: 1, line: 2, cells, repeats: null };
    };
    let locations = runAtOnce(locationIndexSteps([]));
    const indexMs = cpuMsOf(() => {
      locations = runAtOnce(locationIndexSteps(LOCATIONS));
    });
    const reading = { kind: 'listing' as const, columns, locations, channelIds: [] };
    const linesMs = cpuMsOf(() => {
      for (let line = 0; line < 200; line++) {
        assert.match(planLine(reading, lineAt(`nowhere ${line}`)).errors[0]?.message ?? '', /none of your locations/);
      }
    });
    assert.ok(linesMs < indexMs + 100, `${linesMs} ms for 200 lines, ${indexMs} ms for all locations`);
    const named = [LOCATIONS[7]?.name, `Unit / ${LOCATIONS[7]?.name}`, 'loc_7'];
    for (const name of named) assert.equal(planLine(reading, lineAt(name ?? '')).values.locationId, 'loc_7');
  });

  it('a list of very many parts is refused before they are looked up, and so is a very long word', () => {
    const long = 'gmt|'.repeat(48_000);
    const ms = cpuMsOf(() => {
      assert.throws(() => choices('complications').read(long), CellError);
      assert.throws(() => choices('complications').read('é'.repeat(200_000)), CellError);
    });
    assert.ok(ms < 50, `${ms} ms`);
    assert.deepEqual(choices('complications').read('gmt|'.repeat(400)), ['gmt']);
  });

  it('a cell of photos is taken apart in little time', () => {
    const cells = ['https://'.repeat(25_000), ' '.repeat(200_000), 'a '.repeat(100_000), `${'.jpg'.repeat(50_000)} `];
    const ms = cpuMsOf(() => {
      for (const cell of cells) assert.ok(photos.read(cell) !== null);
    });
    assert.ok(ms < 200, `${ms} ms`);
  });

  it('the names of a zip are put in order in little time, numbers by their value', () => {
    const named = (names: string[]) => names.map((name) => ({ name }));
    assert.deepEqual(
      inOrderOfNames(named(['W-10.jpg', 'w-2.jpg', 'W-1/b.jpg', 'W-1/a.jpg', 'A.jpg'])).map(({ name }) => name),
      ['A.jpg', 'W-1/a.jpg', 'W-1/b.jpg', 'w-2.jpg', 'W-10.jpg'],
    );
    const marks = 'a\u0301\u0316'.repeat(160);
    const hostile = named(Array.from({ length: 4_000 }, (_, index) => `${marks}${index}.jpg`));
    const ms = cpuMsOf(() => inOrderOfNames(hostile));
    assert.ok(ms < 1_000, `${ms} ms`);
  });

  describe('with lines of many characters', () => {
    let world: World;
    before(async () => {
      world = await startWorld();
    });
    after(() => world.stop());

    it('have their errors sent in pieces of about one line', async () => {
      const { organizationId } = await world.dealer();
      const notes = 'x'.repeat(150_000);
      const lines = Array.from({ length: 40 }, (_, index) => `W-${index},Title,${notes}`);
      const { jobId } = await importText(world, organizationId, `stock_number,title,notes\n${lines.join('\n')}\n`);
      const job = await findJob(world.db, organizationId, jobId);
      const pieces: string[] = [];
      for await (const piece of jobErrorLines(world.db, { organizationId, seesCost: true }, job)) pieces.push(piece);
      assert.ok(Math.max(...pieces.map((piece) => piece.length)) < 2 * notes.length);
      const sent = pieces.join('').split('\r\n').filter(Boolean);
      assert.equal(sent.length, 1 + lines.length);
      assert.ok(sent.every((line, index) => index === 0 || line.startsWith(`W-${index - 1},Title,xxx`)));
    });
  });
});
