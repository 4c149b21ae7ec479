import type { DomainErrorCode } from '../domain-error.ts';

/**
 * What the dashboard's API refuses at its edge. What an operation itself refuses is a DomainError, whose codes and
 * statuses are in contract/domain-error.ts; both reach the client in one envelope.
 */
const statuses = {
  invalid_request: 400,
  unauthenticated: 401,
  wrong_credentials: 401,
  wrong_origin: 403,
  owner_only: 403,
  sign_up_off: 403,
  route_not_found: 404,
  request_timeout: 408,
  request_too_large: 413,
  too_many_attempts: 429,
  too_many_requests: 429,
  too_many_streams: 429,
  storage_quota_exceeded: 429,
  internal_error: 500,
  unavailable: 503,
} as const satisfies Record<string, number>;

export type EdgeErrorCode = keyof typeof statuses;
export const EDGE_ERROR_STATUS: Readonly<Record<EdgeErrorCode, number>> = statuses;

export type DashboardErrorCode = EdgeErrorCode | DomainErrorCode;

export type DashboardErrorEnvelope = {
  error: {
    code: DashboardErrorCode;
    /** For the person in front of the page: what happened and what to do. */
    message: string;
    /** JSON path of the input that is to blame; the page shows the message beside it. */
    field?: string;
    request_id: string;
  };
};
