import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OPERATIONS } from '../../../contract/operations.ts';
import { CustomerInput } from '../../../contract/resources/customer.ts';
import { OrderInput } from '../../../contract/resources/order.ts';
import { didYouMean } from './did-you-mean.ts';

const ORDER = Object.keys(OrderInput.properties);
const LINE = ['listing_id', 'part_id', 'quantity', 'unit_amount', 'discount_amount', 'title'];
const CUSTOMER = Object.keys(CustomerInput.properties);
const LISTINGS = Object.keys(OPERATIONS.listListings.query.properties);

describe('did you mean', () => {
  for (const [name, known, meant] of [
    // The same letters.
    ['listingId', LINE, 'listing_id'],
    ['Quantity', LINE, 'quantity'],
    ['channel-order-id', ORDER, 'channel_order_id'],
    ['UPDATED_AFTER', LISTINGS, 'updated_after'],
    // A typo: a letter too few, too many, wrong, or swapped with its neighbour.
    ['updated_afer', LISTINGS, 'updated_after'],
    ['currrency', ORDER, 'currency'],
    ['emial', CUSTOMER, 'email'],
    ['quantitiy', LINE, 'quantity'],
    ['statsu', LISTINGS, 'status'],
    ['limits', LISTINGS, 'limit'],
    // Some of the same words.
    ['line_items', ORDER, 'lines'],
    ['lineItems', ORDER, 'lines'],
    ['order_id', ORDER, 'channel_order_id'],
    ['shipping_addr', ORDER, 'shipping_address'],
    ['phone_number', CUSTOMER, 'phone'],
    // Nothing like it, or two that are as good.
    ['nonsense', ORDER, null],
    ['amount', ORDER, null],
    ['price', LINE, null],
    ['', ORDER, null],
    ['_', ORDER, null],
    ['x'.repeat(100_000), ORDER, null],
    ['anything', [], null],
  ] as const) {
    it(`answers ${meant ?? 'nothing'} for ${name.slice(0, 30)}`, () => assert.equal(didYouMean(name, known), meant));
  }

  it('costs no more for a long name that is like nothing than for a typo', () => {
    const costOf = (name: string) => {
      const costs = Array.from({ length: 20 }, () => {
        const before = process.threadCpuUsage();
        for (let times = 0; times < 100; times++) didYouMean(name, ORDER);
        return process.threadCpuUsage(before).user;
      });
      return Math.min(...costs);
    };
    const [typo, long] = [costOf('currrency'), costOf('x'.repeat(50))];
    assert.ok(long <= typo, `${long} µs, and ${typo} µs for a typo`);
  });
});
