import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { measureResults } from '../../../test/harness/database/result-sizes.ts';
import { watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import { DESCRIPTION_LENGTH_LIMIT } from '../../contract/limits.ts';
import { PIECE_BYTES } from '../../db/large-pages.ts';
import { createItem } from '../items/item-operations.ts';
import { readCsv } from './csv-file.ts';
import { exportStock } from './stock-export.ts';

describe('the export of stock', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('has pieces of a limited size, however long the texts of the items', async () => {
    const { organizationId } = await world.dealer();
    const description = '時'.repeat(DESCRIPTION_LENGTH_LIMIT);
    const privateNotes = '計'.repeat(DESCRIPTION_LENGTH_LIMIT);
    const numbers = Array.from({ length: 12 }, (_, index) => `N-${100 + index}`);
    for (const [index, stockNumber] of numbers.entries()) {
      const texts = index < 8 ? { description, privateNotes } : {};
      await createItem(world.channel, TESTER, organizationId, watch({ stockNumber, ...texts }));
    }
    const { db, largest } = measureResults(world.db);
    const options = { seesCost: true, publicUrl: world.channel.publicUrl, now: null };
    const pieces: string[] = [];
    for await (const piece of exportStock(db, { organizationId, kind: 'listing' }, options)) pieces.push(piece);
    // The columns beside the texts are short.
    const limit = 1.1 * PIECE_BYTES;
    const largestPiece = Math.max(...pieces.map((piece) => Buffer.byteLength(piece)));
    assert.ok(largestPiece < limit, `a piece has ${largestPiece} bytes`);
    assert.ok(largest() < limit, `one query read ${largest()} bytes`);
    const { header, rows } = readCsv(Buffer.from(pieces.join('')), (cells) => cells);
    const column = header.indexOf('stock_number');
    assert.deepEqual(
      rows.map(({ cells }) => cells[column]),
      numbers,
    );
  });
});
