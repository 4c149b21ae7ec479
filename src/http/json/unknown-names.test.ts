import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BULK_RECORDS_LIMIT } from '../../contract/limits.ts';
import { BulkInput } from '../../contract/resources/customer.ts';
import { OrderInput } from '../../contract/resources/order.ts';
import { parseJsonBody, parseJsonBodySteps } from './json-body.ts';
import type { Shape } from './shape.ts';
import { UnknownNames } from './unknown-names.ts';

const JSON_TYPE = 'application/json';
const MORE = '%E2%80%A6';

/** The header for a body, as a small and as a large one are read: they must say the same. */
function headerOf(text: string, shape: Shape): string | null {
  const [small, large] = [new UnknownNames(), new UnknownNames()];
  parseJsonBody(Buffer.from(text), JSON_TYPE, shape, small);
  const steps = parseJsonBodySteps(Buffer.from(text), JSON_TYPE, shape, large);
  while (!steps.next().done);
  assert.equal(large.header(), small.header(), text.slice(0, 200));
  return large.header();
}
const ofOrder = (body: object) => headerOf(JSON.stringify(body), OrderInput as Shape);

describe('the unknown names of a body', () => {
  it('are none where everything is known, whatever its value', () => {
    assert.equal(ofOrder({ channel_order_id: 5, lines: [{ quantity: null }], customer: 'x' }), null);
    assert.equal(ofOrder({ metadata: { anything: { at: ['all', { x: 1 }] } } }), null);
    for (const text of ['[]', 'null', '5', '"x"', '{}', '[{"x":1}]']) {
      assert.equal(headerOf(text, OrderInput as Shape), null, text);
    }
  });

  it('are paths, without what is inside them', () => {
    const body = {
      line_items: [{ secret: 'hunter2' }],
      lines: [{ listingId: 'lst_1' }, { quantity: 1 }, { title: 'x', colour: { of: 'dial' } }],
      customer: { e_mail: 'a@b.ch' },
      shipping_address: { street: 'Rue 1' },
      metadata: { anything: 1 },
    };
    assert.equal(
      ofOrder(body),
      'line_items, lines[0].listingId, lines[2].colour, customer.e_mail, shipping_address.street',
    );
  });

  it('are at most 20, each once', () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}x`, 1]));
    const names = Array.from({ length: 20 }, (_, index) => `k${index}x`).join(', ');
    assert.equal(ofOrder(fields(20)), names);
    assert.equal(ofOrder(fields(21)), `${names}, ${MORE}`);
    assert.equal(ofOrder(fields(500)), `${names}, ${MORE}`);
    assert.equal(headerOf('{"x":1,"x":2,"y":1,"x":3}', OrderInput as Shape), 'x, y');
    const customers = Array.from({ length: BULK_RECORDS_LIMIT }, (_, index) => ({ email: 'a@b.ch', mail: index }));
    const header = headerOf(JSON.stringify({ customers }), BulkInput as Shape) ?? '';
    assert.match(header, /^customers\[0\]\.mail, customers\[1\]\.mail, .*, customers\[19\]\.mail, %E2%80%A6$/);
  });

  it('have at most 1,000 bytes as they are sent', () => {
    const half = 'a'.repeat(500);
    assert.equal(ofOrder({ [half]: 1, [`${half.slice(2)}`]: 1 }), `${half}, ${half.slice(2)}`);
    assert.equal(ofOrder({ [half]: 1, [`${half.slice(1)}`]: 1, x: 1 }), `${half}, ${MORE}`);
    assert.equal(ofOrder({ ['a'.repeat(1_000)]: 1 }), 'a'.repeat(1_000));
    assert.equal(ofOrder({ ['a'.repeat(1_001)]: 1 }), MORE);
    assert.equal(ofOrder({ ['é'.repeat(167)]: 1 }), MORE);
    assert.equal(ofOrder({ ['x'.repeat(900_000)]: 1 }), MORE);
  });

  it('are printable ASCII: all else is percent-encoded, and so are the separator and the percent sign', () => {
    const body = { é: 1, '😀': 1, 'a\r\nb': 1, '\u007f': 1, 'a b': 1, 'a,b': 1, '50%': 1, '': 1 };
    assert.equal(ofOrder(body), '%C3%A9, %F0%9F%98%80, a%0D%0Ab, %7F, a b, a%2Cb, 50%25, ');
    assert.equal(headerOf('{"\\ud800":1}', OrderInput as Shape), '%EF%BF%BD');
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.constant(1), { noNullPrototype: true }), (fields) => {
        const names = new UnknownNames();
        parseJsonBody(Buffer.from(JSON.stringify(fields)), JSON_TYPE, OrderInput as Shape, names);
        assert.match(names.header() ?? '', /^[\x20-\x7e]{0,1012}$/);
      }),
    );
  });
});
