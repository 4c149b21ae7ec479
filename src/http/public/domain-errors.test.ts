import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DOMAIN_ERROR_STATUS, DomainError } from '../../contract/domain-error.ts';
import { publicError } from './domain-errors.ts';

describe('a refusal below HTTP, to a client of the API', () => {
  it('keeps its message and names its field as param if the client caused it', () => {
    const error = publicError(new DomainError('invalid_input', 'currency must be an ISO 4217 code.', 'currency'));
    assert.deepEqual(
      [error.status, error.code, error.message, error.param, error.cause],
      [400, 'invalid_request', 'currency must be an ISO 4217 code.', 'currency', undefined],
    );
  });

  it('is query_failed if an item has no price, and is logged', () => {
    const refusal = new DomainError('unpriceable', 'No price just now.');
    const error = publicError(refusal);
    assert.deepEqual([error.code, error.message, error.cause], ['query_failed', 'No price just now.', refusal]);
  });

  it('is a plain 500 that shows nothing of it if only the dealer can cause it', () => {
    for (const code of ['email_taken', 'nothing_matched', 'not_found'] as const) {
      const refusal = new DomainError(code, 'A text for the dealer.', 'email');
      const error = publicError(refusal);
      assert.deepEqual([error.code, error.param, error.cause], ['internal_error', undefined, refusal]);
      assert.doesNotMatch(error.message, /dealer/);
    }
  });

  it('has a status for the dashboard, whatever its code', () => {
    assert.deepEqual([...new Set(Object.values(DOMAIN_ERROR_STATUS))], [400, 403, 404, 409]);
  });
});
