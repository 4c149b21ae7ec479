import assert from 'node:assert/strict';
import { DealerError, type DealerErrorCode } from '../../src/dealers/dealer-error.ts';

/** Asserts that an operation of the dealer is refused with this code, and names this field. */
export async function assertRefused(
  operation: Promise<unknown> | (() => unknown),
  code: DealerErrorCode,
  field?: string,
): Promise<void> {
  await assert.rejects(
    async () => await (typeof operation === 'function' ? operation() : operation),
    (error) => {
      assert.ok(error instanceof DealerError, `expected a DealerError, got ${error}`);
      assert.equal(error.code, code, error.message);
      if (field !== undefined) assert.equal(error.field, field);
      return true;
    },
  );
}
