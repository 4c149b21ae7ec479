import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Change, type EventDraft, type Projected, transition } from './transitions.ts';

const MOVEMENT: Change = { isDeleted: false, isQuantityEdit: false };
const EDIT: Change = { isDeleted: false, isQuantityEdit: true };
const DELETION: Change = { isDeleted: true, isQuantityEdit: false };

type State = Projected | null;
/** What happened, from, to, how, and the events it is: their types, or their whole drafts. */
type Row = [string, State, State, Change, (string | EventDraft)[]];

function listing(status: string, title = 'Submariner', isUnpriceable = false): Projected {
  const quantity = status === 'active' ? 1 : 0;
  return { kind: 'listing', status, quantity, isUnpriceable, body: JSON.stringify({ status, title, quantity }) };
}

type PartState = { isHidden?: boolean; price?: number | null; isUnpriceable?: boolean };

function part(quantity: number, { isHidden = false, price = 100, isUnpriceable = false }: PartState = {}): Projected {
  const status = isHidden ? 'unpublished' : quantity === 0 ? 'sold_out' : 'active';
  const body = JSON.stringify({ status, quantity, price, labels: { status } });
  return { kind: 'part', status, quantity, isUnpriceable, body };
}

/** Both show no price: the one because nobody can say it, the other because the dealer does not. */
const UNPRICEABLE = { price: null, isUnpriceable: true };
const ON_REQUEST = { price: null };

function draft(type: EventDraft['type'], extra: EventDraft['extra'], previous: EventDraft['previous']): EventDraft {
  return { type, extra, previous };
}

const LISTING_ROWS: Row[] = [
  ['absent to active', null, listing('active'), MOVEMENT, [draft('listing.published', {}, undefined)]],
  ['absent to reserved', null, listing('reserved'), MOVEMENT, ['listing.published']],
  ['unpublished to active', listing('unpublished'), listing('active'), MOVEMENT, ['listing.published']],
  ['unpublished to reserved', listing('unpublished'), listing('reserved'), MOVEMENT, ['listing.published']],
  ['a difference while active', listing('active'), listing('active', 'GMT'), EDIT, [draft('listing.updated', {}, {})]],
  ['a difference while reserved', listing('reserved'), listing('reserved', 'GMT'), MOVEMENT, ['listing.updated']],
  ['active to reserved', listing('active'), listing('reserved'), MOVEMENT, ['listing.updated']],
  ['reserved to active', listing('reserved'), listing('active'), MOVEMENT, ['listing.updated']],
  ['active to sold', listing('active'), listing('sold'), MOVEMENT, [draft('listing.sold', {}, undefined)]],
  ['reserved to sold', listing('reserved'), listing('sold'), MOVEMENT, ['listing.sold']],
  ['sold to active', listing('sold'), listing('active'), MOVEMENT, [draft('listing.in_stock', {}, undefined)]],
  ['sold to reserved', listing('sold'), listing('reserved'), MOVEMENT, ['listing.in_stock']],
  ['active to unpublished', listing('active'), listing('unpublished'), MOVEMENT, ['listing.unpublished']],
  ['reserved to unpublished', listing('reserved'), listing('unpublished'), MOVEMENT, ['listing.unpublished']],
  ['sold to unpublished', listing('sold'), listing('unpublished'), MOVEMENT, ['listing.unpublished']],
  ['a difference while sold', listing('sold'), listing('sold', 'GMT'), MOVEMENT, []],
  ['a difference while unpublished', listing('unpublished'), listing('unpublished', 'GMT'), MOVEMENT, []],
  ['unpriceable to price on request', listing('active', 'x', true), listing('active', 'x'), EDIT, ['listing.updated']],
  ['price on request to unpriceable', listing('active', 'x'), listing('active', 'x', true), EDIT, ['listing.updated']],
  ['unpriceable to priced while sold', listing('sold', 'x', true), listing('sold', 'x'), MOVEMENT, []],
  ['absent to sold', null, listing('sold'), MOVEMENT, []],
  ['absent to unpublished', null, listing('unpublished'), MOVEMENT, []],
  ['unpublished to sold', listing('unpublished'), listing('sold'), MOVEMENT, []],
  ...['active', 'reserved', 'sold', 'unpublished'].map(
    (status): Row => [
      `${status} to deleted`,
      listing(status),
      null,
      DELETION,
      [draft('listing.unpublished', { deleted: true }, undefined)],
    ],
  ),
];

const PART_ROWS: Row[] = [
  ['off to on', null, part(5), MOVEMENT, [draft('part.published', {}, undefined)]],
  ['off to on at zero units', null, part(0), MOVEMENT, ['part.published']],
  ['off to on while hidden', null, part(5, { isHidden: true }), MOVEMENT, ['part.published']],
  ['on to off', part(5), null, MOVEMENT, [draft('part.unpublished', {}, undefined)]],
  ['on to off at zero units', part(0), null, MOVEMENT, ['part.unpublished']],
  ['deleted', part(5), null, DELETION, [draft('part.unpublished', { deleted: true }, undefined)]],
  ['moved to zero', part(5), part(0), MOVEMENT, [draft('part.sold_out', {}, undefined)]],
  ['moved down', part(5), part(3), MOVEMENT, [draft('part.in_stock', { quantity: 3 }, { quantity: 5 })]],
  ['moved up', part(5), part(8), MOVEMENT, [draft('part.in_stock', { quantity: 8 }, { quantity: 5 })]],
  ['moved up from zero', part(0), part(2), MOVEMENT, [draft('part.in_stock', { quantity: 2 }, { quantity: 0 })]],
  [
    'quantity edited',
    part(5),
    part(3),
    EDIT,
    [draft('part.updated', {}, { quantity: 5 }), draft('part.in_stock', { quantity: 3 }, { quantity: 5 })],
  ],
  [
    'quantity edited to zero',
    part(5),
    part(0),
    EDIT,
    [
      draft('part.updated', {}, { status: 'active', quantity: 5, labels: { status: 'active' } }),
      draft('part.sold_out', {}, undefined),
    ],
  ],
  ['price changed', part(5), part(5, { price: 90 }), MOVEMENT, [draft('part.updated', {}, { price: 100 })]],
  ['price changed at zero units', part(0), part(0, { price: 90 }), MOVEMENT, ['part.updated']],
  [
    'price changed with a movement',
    part(5),
    part(4, { price: 90 }),
    MOVEMENT,
    [draft('part.updated', {}, { quantity: 5, price: 100 }), 'part.in_stock'],
  ],
  [
    'unpriceable to price on request',
    part(5, UNPRICEABLE),
    part(5, ON_REQUEST),
    EDIT,
    [draft('part.updated', {}, { price: null })],
  ],
  ['priced to unpriceable', part(5), part(5, UNPRICEABLE), MOVEMENT, [draft('part.updated', {}, { price: 100 })]],
  [
    'unpriceable to price on request with a movement',
    part(5, UNPRICEABLE),
    part(4, ON_REQUEST),
    MOVEMENT,
    ['part.updated', 'part.in_stock'],
  ],
  ['price edited, quantity sent unchanged', part(5), part(5, { price: 90 }), EDIT, ['part.updated']],
  [
    'hidden',
    part(5),
    part(5, { isHidden: true }),
    MOVEMENT,
    [draft('part.updated', {}, { status: 'active', labels: { status: 'active' } })],
  ],
  ['shown', part(5, { isHidden: true }), part(5), MOVEMENT, ['part.updated']],
  ['hidden with a movement', part(5), part(4, { isHidden: true }), MOVEMENT, ['part.updated', 'part.in_stock']],
  ['moved while hidden', part(5, { isHidden: true }), part(4, { isHidden: true }), MOVEMENT, ['part.in_stock']],
  ['moved to zero while hidden', part(1, { isHidden: true }), part(0, { isHidden: true }), MOVEMENT, ['part.sold_out']],
];

for (const [kind, rows] of [
  ['a listing', LISTING_ROWS],
  ['a part', PART_ROWS],
] as const) {
  describe(`transitions of ${kind}`, () => {
    for (const [name, before, after, change, events] of rows) {
      const expected = events.map((event) => (typeof event === 'string' ? event : event.type));
      it(`${name}: ${expected.join(' and ') || 'a new stamp without an event'}`, () => {
        const outcome = transition(before, after, change);
        assert.equal(outcome.isChanged, true);
        assert.deepEqual(
          outcome.events.map((event) => event.type),
          expected,
        );
        for (const [index, event] of events.entries()) {
          if (typeof event !== 'string') assert.deepEqual(outcome.events[index], event);
        }
      });
    }
  });
}

describe('no transition', () => {
  for (const change of [MOVEMENT, EDIT, DELETION]) {
    it(`absent stays absent: nothing, ${JSON.stringify(change)}`, () => {
      assert.deepEqual(transition(null, null, change), { isChanged: false, events: [] });
    });
    for (const state of [listing('active'), listing('sold'), part(5), part(0), part(5, UNPRICEABLE)]) {
      it(`the same ${state.kind} reads ${state.status}: nothing, ${JSON.stringify(change)}`, () => {
        assert.deepEqual(transition(state, { ...state }, change), { isChanged: false, events: [] });
      });
    }
  }
});

describe('previous attributes of part.updated', () => {
  it('hold the old value of fields that went away, and null for fields that came', () => {
    const before: Projected = {
      kind: 'part',
      status: 'active',
      quantity: 1,
      isUnpriceable: false,
      body: '{"quantity":1,"gone":"x","same":[1]}',
    };
    const after: Projected = { ...before, body: '{"quantity":1,"same":[1],"fresh":"y"}' };
    assert.deepEqual(transition(before, after, MOVEMENT).events, [
      draft('part.updated', {}, { gone: 'x', fresh: null }),
    ]);
  });
});
