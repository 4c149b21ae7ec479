import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idTimeMs, isId } from '../../contract/ids.ts';
import { newId } from '../../ids/new-id.ts';
import { deliveryRange, dispatchId } from './dispatch-id.ts';

describe('the ids of dispatches', () => {
  const deliveryId = newId('delivery');

  it('dispatch ids begin with the id of the delivery; each after it is another, and the same whoever asks', () => {
    const ids = Array.from({ length: 100 }, (_, before) => dispatchId(deliveryId, before));
    assert.equal(ids[0], deliveryId);
    assert.equal(new Set(ids).size, 100);
    assert.deepEqual(
      ids.map((_, before) => dispatchId(deliveryId, before)),
      ids,
    );
  });

  it('dispatch ids are ids of deliveries, UUIDs of version 7 with the time of the delivery', () => {
    for (let before = 1; before < 100; before++) {
      const id = dispatchId(deliveryId, before);
      assert.ok(isId('delivery', id), id);
      assert.equal(idTimeMs(id), idTimeMs(deliveryId));
      // The characters that hold the version and the variant.
      assert.equal(id.slice(14, 18), deliveryId.slice(14, 18));
    }
  });

  it('dispatch ids lead back to a range that holds their delivery', () => {
    for (let before = 0; before < 100; before++) {
      const { from, to } = deliveryRange(dispatchId(deliveryId, before));
      assert.ok(from <= deliveryId && deliveryId <= to);
      assert.deepEqual([isId('delivery', from), isId('delivery', to)], [true, true]);
    }
  });

  it('dispatch ids lead back to one delivery, also of many that were made at the same moment', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('delivery', 1_800_000_000_000));
    const { from, to } = deliveryRange(dispatchId(ids[4_321] ?? '', 3));
    assert.deepEqual(
      ids.filter((id) => from <= id && id <= to),
      [ids[4_321]],
    );
  });
});
