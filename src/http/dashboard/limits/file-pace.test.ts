import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import { pacedPieces } from './file-pace.ts';

/** A file that notes how many of its dealer's batches are read at the same time. */
function filesOf(count: number, pieces: number) {
  let reading = 0;
  const seen = { most: 0, closed: 0 };
  async function* file(): AsyncGenerator<string> {
    try {
      for (let number = 0; number < pieces; number++) {
        reading += 1;
        seen.most = Math.max(seen.most, reading);
        await tick();
        reading -= 1;
        yield String(number);
      }
    } finally {
      seen.closed += 1;
    }
  }
  return { seen, files: Array.from({ length: count }, file) };
}

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

describe('files of the dashboard', () => {
  it('of one dealer are read one batch at a time, and all of them come whole', async () => {
    const { seen, files } = filesOf(3, 4);
    const texts = await Promise.all(files.map((file) => textOf(pacedPieces('org_1', file))));
    assert.deepEqual(texts, ['0123', '0123', '0123']);
    assert.equal(seen.most, 1);
  });

  it('of several dealers are read at the same time', { timeout: 60_000 }, async () => {
    let reading = 0;
    const all = Promise.withResolvers<void>();
    // Each waits in its first batch for the others: were they read one after the other, none would end.
    async function* file(): AsyncGenerator<string> {
      reading += 1;
      if (reading === 3) all.resolve();
      await all.promise;
      yield 'read';
    }
    const texts = ['org_1', 'org_2', 'org_3'].map((dealerId) => textOf(pacedPieces(dealerId, file())));
    assert.deepEqual(await Promise.all(texts), ['read', 'read', 'read']);
  });

  it('that fail, or whose client goes, leave their place to the next', async () => {
    async function* failing(): AsyncGenerator<string> {
      yield 'a';
      throw new Error('the database is away');
    }
    await assert.rejects(textOf(pacedPieces('org_1', failing())), /away/);
    const { seen, files } = filesOf(2, 3);
    for await (const piece of pacedPieces('org_1', files[0] as AsyncGenerator<string>)) {
      assert.equal(piece, '0');
      break;
    }
    assert.equal(seen.closed, 1);
    assert.equal(await textOf(pacedPieces('org_1', files[1] as AsyncGenerator<string>)), '012');
  });
});
