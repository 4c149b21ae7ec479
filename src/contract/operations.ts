import type { ErrorCode } from './errors.ts';
import { customerOperations } from './operations/customer-operations.ts';
import { eventOperations } from './operations/event-operations.ts';
import { itemOperations } from './operations/item-operations.ts';
import type { Operation } from './operations/operation.ts';
import { orderOperations } from './operations/order-operations.ts';
import { pingOperations } from './operations/ping-operations.ts';
import { reservationOperations } from './operations/reservation-operations.ts';
import { serviceOperations } from './operations/service-operations.ts';

/**
 * The table of everything the API does. Routing, validation, token costs, OpenAPI and the docs read it; a handler
 * without an operation, or an operation without a handler, stops the server at start.
 */
export const OPERATIONS = {
  ...serviceOperations,
  ...itemOperations,
  ...eventOperations,
  ...orderOperations,
  ...reservationOperations,
  ...customerOperations,
  ...pingOperations,
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

/** The errors that any request can meet before it reaches its operation. */
export const TRANSPORT_ERRORS: readonly ErrorCode[] = [
  'invalid_request',
  'request_timeout',
  'headers_too_large',
  'overloaded',
  'internal_error',
];

/** The errors of authentication and admission, which every operation with a key shares. */
export const ADMISSION_ERRORS: readonly ErrorCode[] = [
  'missing_authorization',
  'malformed_authorization',
  'invalid_api_key',
  'auth_lookup_failed',
  'integration_disabled',
  'integration_not_provisioned',
  'integration_org_missing',
  'subscription_required',
  'too_many_requests',
];

/** The errors of every mutating POST. */
export const WRITE_ERRORS: readonly ErrorCode[] = [
  'missing_idempotency_key',
  'invalid_json',
  'request_too_large',
  'key_reused_with_different_body',
  'idempotency_key_in_use',
  'storage_quota_exceeded',
  'lookup_failed',
];

/** Every error code that an operation can answer with. */
export function errorsOf(operation: Operation): ErrorCode[] {
  return [
    ...new Set([
      ...TRANSPORT_ERRORS,
      ...(operation.isOpen ? [] : ADMISSION_ERRORS),
      ...(operation.isIdempotent ? WRITE_ERRORS : []),
      ...operation.errors,
    ]),
  ];
}
