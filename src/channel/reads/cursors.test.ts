import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DomainError } from '../../contract/domain-error.ts';
import { type Cursor, createCursors, type ListName } from './cursors.ts';

const KEY = 'a first secret key for cursors';
const cursors = createCursors([KEY]);
const INTEGRATION = 'int_01h455vb4pex5vsknk084sn02q';
const CURSOR: Cursor = {
  id: 'lst_01h455vb4pex5vsknk084sn02q',
  atMs: 1_778_230_800_123,
  sinceMs: 1_778_230_000_000,
  filter: 'active,sold',
};
const text = cursors.encode('listings', INTEGRATION, CURSOR);

function assertInvalid(candidate: string, list: ListName = 'listings', integrationId = INTEGRATION): void {
  assert.throws(
    () => cursors.decode(list, integrationId, candidate),
    (error) => error instanceof DomainError && error.code === 'invalid_cursor' && error.field === 'after',
    candidate,
  );
}

describe('a cursor', () => {
  it('comes back as it went', () => {
    const anyCursor = fc.record(
      { id: fc.string(), atMs: fc.integer(), sinceMs: fc.option(fc.integer()), filter: fc.option(fc.string()) },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(anyCursor, (cursor) => {
        const sent = cursors.encode('parts', INTEGRATION, cursor);
        assert.deepEqual(cursors.decode('parts', INTEGRATION, sent), cursor);
      }),
    );
  });

  it('survives any number of URL-decodings', () => {
    assert.equal(decodeURIComponent(decodeURIComponent(text)), text);
    assert.equal(new URLSearchParams(`after=${text}`).get('after'), text);
    assert.match(text, /^[A-Za-z0-9_-]+$/);
  });

  it('with any bit altered is invalid', () => {
    const bytes = Buffer.from(text, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = Buffer.from(bytes);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assertInvalid(altered.toString('base64url'));
    }
  });

  it('with any character replaced, removed or added is invalid', () => {
    for (let index = 0; index < text.length; index++) {
      const other = text[index] === 'A' ? 'B' : 'A';
      assertInvalid(text.slice(0, index) + other + text.slice(index + 1));
      assertInvalid(text.slice(0, index) + text.slice(index + 1));
      assertInvalid(`${text.slice(0, index)}A${text.slice(index)}`);
    }
  });

  it('in another spelling of the same bytes is invalid', () => {
    const bytes = Buffer.from(text, 'base64url');
    const padded = bytes.toString('base64');
    for (const spelling of [`${text}=`, `${text}==`, ` ${text}`, `${text}\n`, `${text}%3D`, text.toUpperCase()]) {
      assertInvalid(spelling);
    }
    if (padded !== text) assertInvalid(padded);
    // The last character of an incomplete group has bits that decoders ignore.
    const short = cursors.encode('listings', INTEGRATION, { ...CURSOR, filter: null });
    for (const sent of [text, short].filter((candidate) => candidate.length % 4 !== 0)) {
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const others = [...alphabet].map((last) => sent.slice(0, -1) + last).filter((other) => other !== sent);
      for (const other of others) assertInvalid(other);
    }
  });

  it('made by hand is invalid', () => {
    const payload = JSON.stringify([CURSOR.id, CURSOR.atMs, null, null]);
    for (const made of ['', 'abc', '{}', CURSOR.id, Buffer.from(payload).toString('base64url'), 'A'.repeat(5_000)]) {
      assertInvalid(made);
    }
  });

  it('of another list or another integration is invalid', () => {
    for (const list of ['parts', 'orders', 'events'] as const) assertInvalid(text, list);
    assertInvalid(text, 'listings', 'int_01h455vb4pex5vsknk084sn02r');
  });

  it('outlives restarts and the rotation of keys, and ends when its key is taken away', () => {
    assert.deepEqual(createCursors([KEY]).decode('listings', INTEGRATION, text), CURSOR);
    const rotated = createCursors(['a second secret key', KEY]);
    assert.deepEqual(rotated.decode('listings', INTEGRATION, text), CURSOR);
    const fresh = rotated.encode('listings', INTEGRATION, CURSOR);
    assert.notEqual(fresh, text);
    assertInvalid(fresh);
    assert.throws(() => createCursors(['a second secret key']).decode('listings', INTEGRATION, text), DomainError);
  });
});
