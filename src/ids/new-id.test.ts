import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { firstIdAt, ID_PREFIXES, type IdKind, idTimeMs, isId } from '../contract/ids.ts';
import { newId } from './new-id.ts';
import { newRequestId } from './request-id.ts';

const kinds = Object.keys(ID_PREFIXES) as IdKind[];

describe('ids', () => {
  it('are a prefix of their own for each kind and 26 characters of base32', () => {
    assert.equal(new Set(Object.values(ID_PREFIXES)).size, kinds.length);
    for (const kind of kinds) {
      const id = newId(kind);
      assert.match(id, new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
      assert.ok(isId(kind, id));
      for (const other of kinds) assert.equal(isId(other, id), other === kind);
    }
  });

  it('carry a UUID of version 7 and the time of their making', () => {
    const id = newId('listing', 0x0123456789ab);
    const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
    const value = [...id.slice(4)].reduce((sum, character) => sum * 32n + BigInt(alphabet.indexOf(character)), 0n);
    const hex = value.toString(16).padStart(32, '0');
    assert.equal(hex.slice(0, 12), '0123456789ab');
    assert.equal(hex[12], '7');
    assert.match(hex[16] ?? '', /[89ab]/);
    assert.equal(idTimeMs(id), 0x0123456789ab);
  });

  it('sort as text in the order of their time', () => {
    const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(time, time, (one, other) => {
        fc.pre(one !== other);
        assert.equal(newId('order', one) < newId('order', other), one < other);
      }),
    );
  });

  it('differ though they are made in the same millisecond, and sort in the order of their making', () => {
    for (const ms of [1, 2, 3]) {
      const ids = Array.from({ length: 50_000 }, () => newId('event', ms));
      assert.equal(new Set(ids).size, ids.length);
      assert.deepEqual(ids.toSorted(), ids);
    }
  });

  for (const text of [
    '',
    'lst',
    'lst_',
    'lst_01h455vb4pex5vsknk084sn02',
    'lst_01h455vb4pex5vsknk084sn02qq',
    'lst_81h455vb4pex5vsknk084sn02q',
    'lst_01h455vb4pex5vsknk084sn02i',
    'lst_01h455vb4pex5vsknk084sn02l',
    'lst_01h455vb4pex5vsknk084sn02o',
    'lst_01h455vb4pex5vsknk084sn02u',
    'lst_01H455VB4PEX5VSKNK084SN02Q',
    'lst-01h455vb4pex5vsknk084sn02q',
    'lst_01h455vb4pex5vsknk084sn02q\n',
    ' lst_01h455vb4pex5vsknk084sn02q',
    'prt_01h455vb4pex5vsknk084sn02q',
    'lst_01h455vb4pex5vsknk084sn0\0q',
  ]) {
    it(`are not taken for one: ${JSON.stringify(text)}`, () => assert.equal(isId('listing', text), false));
  }

  it('of requests are "req_" and 32 hex digits', () => {
    assert.match(newRequestId(), /^req_[0-9a-f]{32}$/);
    assert.notEqual(newRequestId(), newRequestId());
  });

  it('lie on the right side of the first id of a time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 47 }), (timeMs) => {
        const bound = firstIdAt('delivery', timeMs);
        assert.ok(isId('delivery', bound));
        assert.equal(idTimeMs(bound), timeMs);
        assert.ok(newId('delivery', timeMs - 1) < bound && bound <= newId('delivery', timeMs));
      }),
    );
    assert.equal(firstIdAt('delivery', -1), firstIdAt('delivery', 0));
  });
});
