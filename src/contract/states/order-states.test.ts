import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { valuesOf } from '../enumerations.ts';
import { ORDER_TRANSITIONS, type OrderOperation, orderRefusal, orderStep } from './order-states.ts';

const STATUSES = valuesOf('order_status');
const OPERATIONS = Object.keys(ORDER_TRANSITIONS) as OrderOperation[];

describe('the states of an order', () => {
  it('allow each operation in its statuses alone', () => {
    const grid = OPERATIONS.map((operation) => {
      const steps = STATUSES.map((status) => {
        const step = orderStep(operation, status);
        return typeof step === 'string' ? step : step.status;
      });
      return `${operation}: ${steps.join(' ')}`;
    });
    // In the order received, matched, fulfilled, cancelled.
    assert.deepEqual(grid, [
      'report: refused refused refused refused',
      'match_line: received refused refused refused',
      'unmatch_line: received refused refused refused',
      'assign_customer: received matched fulfilled cancelled',
      'confirm: matched refused refused refused',
      'fulfil: refused fulfilled refused refused',
      'dismiss: cancelled refused refused refused',
      'cancel_sale: refused received received refused',
      'cancel: cancelled refused refused unchanged',
    ]);
  });

  it('are all reached by some operation, and all but cancelled are left by some', () => {
    const reached = new Set(OPERATIONS.map((operation) => ORDER_TRANSITIONS[operation].to));
    const left = new Set(
      OPERATIONS.flatMap((name) => (ORDER_TRANSITIONS[name].to ? ORDER_TRANSITIONS[name].from : [])),
    );
    for (const status of STATUSES) {
      assert.ok(reached.has(status), status);
      assert.equal(left.has(status), status !== 'cancelled', status);
    }
  });

  it('say why an operation is refused', () => {
    assert.equal(orderRefusal('fulfil', 'received'), 'An order that is received cannot be fulfilled.');
    assert.equal(orderRefusal('cancel', 'cancelled'), null);
  });
});
