import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { makeZip } from '../../../test/harness/jobs/zip.ts';
import { listZip, type ReadBytes, readZipEntry, ZIP_ENTRIES_LIMIT } from './zip-file.ts';

const LIMIT_BYTES = 1_000;

const readerOf =
  (bytes: Buffer): ReadBytes =>
  async (start, length) =>
    bytes.subarray(start, start + length);

describe('a zip file', () => {
  it('is listed and unpacked', async () => {
    const zip = makeZip([
      { name: 'W-1/a.jpg', bytes: Buffer.from('one') },
      { name: 'ü.jpg', bytes: Buffer.from('two') },
    ]);
    const entries = await listZip(readerOf(zip), zip.length);
    assert.deepEqual(
      entries.map((entry) => entry.name),
      ['W-1/a.jpg', 'ü.jpg'],
    );
    for (const [index, text] of ['one', 'two'].entries()) {
      const entry = entries[index];
      assert.ok(entry);
      assert.equal(String(await readZipEntry(readerOf(zip), zip.length, entry, LIMIT_BYTES)), text);
    }
  });

  it('that is a bomb is unpacked no further than the limit, whatever it says of its size', async () => {
    for (const says of [10_000_000, 10]) {
      const zip = makeZip([{ name: 'bomb.jpg', bytes: Buffer.alloc(10_000_000), says }]);
      const [entry] = await listZip(readerOf(zip), zip.length);
      assert.ok(entry);
      const unpacking = readZipEntry(readerOf(zip), zip.length, entry, 100_000);
      await assert.rejects(unpacking, { name: 'DomainError', message: /more than/ });
    }
  });

  it('that is damaged, cut off or something else is refused; so is one with too many files', async () => {
    const zip = makeZip([{ name: 'a.jpg', bytes: Buffer.from('one') }]);
    const refuses = async (bytes: Buffer, message: RegExp) =>
      await assert.rejects(listZip(readerOf(bytes), bytes.length), { name: 'DomainError', message });
    await refuses(Buffer.from('not a zip at all, but long enough to hold an end'), /not a zip/);
    await refuses(zip.subarray(0, zip.length - 10), /not a zip/);
    await refuses(Buffer.from(''), /not a zip/);
    const lying = Buffer.from(zip);
    lying.writeUInt32LE(0xff_ff_ff_f0, lying.length - 6);
    await refuses(lying, /not a zip/);
    const many = Buffer.from(zip);
    many.writeUInt16LE(ZIP_ENTRIES_LIMIT + 1, many.length - 12);
    await refuses(many, /more than 10000 files/);
    const outside = await listZip(readerOf(zip), zip.length);
    const entry = { ...outside[0], headerAt: 4_000_000_000 } as (typeof outside)[number];
    await assert.rejects(readZipEntry(readerOf(zip), zip.length, entry, LIMIT_BYTES), { name: 'DomainError' });
  });

  it('whose entries share their bytes is refused: a photo would become thousands of files', async () => {
    const bytes = randomBytes(300);
    const zip = makeZip(['a', 'b', 'c'].map((name, index) => ({ name: `${name}.jpg`, bytes, isShared: index > 0 })));
    await assert.rejects(listZip(readerOf(zip), zip.length), { name: 'DomainError', message: /damaged/ });
  });
});
