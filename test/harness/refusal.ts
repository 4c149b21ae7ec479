import assert from 'node:assert/strict';
import { DomainError, type DomainErrorCode } from '../../src/contract/domain-error.ts';

/** Asserts that an operation of the dealer is refused with this code, and names this field. */
export async function assertRefused(
  operation: Promise<unknown> | (() => unknown),
  code: DomainErrorCode,
  field?: string,
): Promise<void> {
  await assert.rejects(
    async () => await (typeof operation === 'function' ? operation() : operation),
    (error) => {
      assert.ok(error instanceof DomainError, `expected a DomainError, got ${error}`);
      assert.equal(error.code, code, error.message);
      if (field !== undefined) assert.equal(error.field, field);
      return true;
    },
  );
}
