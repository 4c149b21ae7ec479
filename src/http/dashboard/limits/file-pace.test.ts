import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import { pacedPieces } from './file-pace.ts';
import { FILES_AT_ONCE_PER_KEY } from './operation-limits.ts';

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

  it('whose client goes while it waits reads nothing more, and the next one does not wait for it', {
    timeout: 20_000,
  }, async () => {
    const reading = Promise.withResolvers<void>();
    async function* held(): AsyncGenerator<string> {
      await reading.promise;
      yield 'held';
    }
    const first = textOf(pacedPieces('org_1', held()));
    const { seen, files } = filesOf(2, 1);
    const [gone, next] = files as [AsyncGenerator<string>, AsyncGenerator<string>];
    const file = Readable.from(pacedPieces('org_1', gone)).resume();
    await tick();
    file.destroy();
    await once(file, 'close');
    const after = textOf(pacedPieces('org_1', next));
    reading.resolve();
    assert.deepEqual([await first, await after], ['held', '0']);
    assert.equal(seen.most, 1);
  });

  it('of one dealer that wait do not refuse those of others', { timeout: 20_000 }, async () => {
    const reading = Promise.withResolvers<void>();
    async function* held(): AsyncGenerator<string> {
      await reading.promise;
      yield 'held';
    }
    const flood = Array.from({ length: 2_000 }, () => textOf(pacedPieces('org_1', held())));
    const flooded = Promise.allSettled(flood);
    await tick();
    const { files } = filesOf(1, 2);
    assert.equal(await textOf(pacedPieces('org_2', files[0] as AsyncGenerator<string>)), '01');
    // Its second batch has to wait, and there is room to.
    const others = filesOf(2, 2).files.map((file) => textOf(pacedPieces('org_2', file)));
    assert.deepEqual(await Promise.all(others), ['01', '01']);
    reading.resolve();
    const served = (await flooded).filter(({ status }) => status === 'fulfilled');
    assert.ok(served.length <= 1 + FILES_AT_ONCE_PER_KEY, `${served.length} files of one dealer waited`);
  });
});
