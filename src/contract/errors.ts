import { IDEMPOTENCY_RETENTION_HOURS, RESERVATION_RETENTION_DAYS } from './limits.ts';

/**
 * The error catalogue: the one list of everything that can go wrong on the wire. The envelope, OpenAPI and the
 * page at /docs/api/errors are all made from it, and only its codes can be thrown.
 */

export type ErrorType =
  | 'authentication_error'
  | 'permission_error'
  | 'validation_error'
  | 'idempotency_error'
  | 'conflict_error'
  | 'rate_limit_error'
  | 'not_found'
  | 'api_error';

export type ErrorEntry = {
  status: number;
  type: ErrorType;
  /** The default message. It tells the person who reads the response what went wrong. */
  message: string;
  /** When it happens. */
  cause: string;
  /** What the client does about it. */
  recovery: string;
};

const entries = {
  missing_authorization: {
    status: 401,
    type: 'authentication_error',
    message: 'No Authorization header was sent. Send "Authorization: Bearer <API key>".',
    cause: 'The request has no Authorization header.',
    recovery: 'Send the header with the integration’s API key: `Authorization: Bearer svc_…`.',
  },
  malformed_authorization: {
    status: 401,
    type: 'authentication_error',
    message: 'The Authorization header must read "Bearer svc_" followed by 32 letters or digits.',
    cause:
      'The scheme is not Bearer, the key does not begin with `svc_`, or what follows is not exactly 32 base62 characters.',
    recovery:
      'Copy the whole key from the integration settings. Look for a cut-off end, quotes or white space around it.',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'This API key does not belong to an active integration.',
    cause:
      'The key is well formed but unknown: it was regenerated, its integration was deleted, or it belongs to another environment.',
    recovery: 'Use the current key of this environment. Regenerate it in the integration settings if it was lost.',
  },
  auth_lookup_failed: {
    status: 401,
    type: 'authentication_error',
    message: 'The API key could not be checked just now. Retry shortly.',
    cause: 'A passing database fault while the key was looked up. It says nothing about the key.',
    recovery: 'Retry with backoff. Do not discard the key.',
  },
  integration_disabled: {
    status: 403,
    type: 'permission_error',
    message: 'The dealer has switched this integration off.',
    cause: 'The dealer turned “Integration enabled” off.',
    recovery: 'Ask the dealer to switch it on in the integration settings. The key stays the same.',
  },
  integration_not_provisioned: {
    status: 403,
    type: 'permission_error',
    message: 'The organization of this integration is not provisioned.',
    cause: 'The integration is linked to an organization that is not provisioned yet or has been archived.',
    recovery: 'Contact support. A new key does not help. Handle it like `integration_org_missing`.',
  },
  integration_org_missing: {
    status: 403,
    type: 'permission_error',
    message: 'This integration is not attached to an organization.',
    cause: 'The integration’s link to an organization is missing.',
    recovery: 'Contact support. A new key does not help. Handle it like `integration_not_provisioned`.',
  },
  subscription_required: {
    status: 403,
    type: 'permission_error',
    message: 'The dealer’s plan does not include the custom integration.',
    cause: 'The plan lacks the custom integration. The key remains valid.',
    recovery: 'Have the dealer subscribe. Access resumes with the next request.',
  },
  invalid_request: {
    status: 400,
    type: 'validation_error',
    message: 'The request is not valid.',
    cause:
      'A field, query parameter or header is missing, of the wrong type, too long, or not one of the allowed values; `metadata` is over 10,000 bytes; or the request is not well-formed HTTP.',
    recovery: 'Correct the input that `param` names; `message` says what is wrong with it.',
  },
  invalid_json: {
    status: 400,
    type: 'validation_error',
    message: 'The body is not valid JSON.',
    cause:
      'The body is malformed or truncated, is not UTF-8, or was sent with another content type, such as a form encoding.',
    recovery: 'Send valid JSON with `Content-Type: application/json`.',
  },
  invalid_cursor: {
    status: 400,
    type: 'validation_error',
    message: 'The cursor in "after" is not one that this list returned.',
    cause:
      '`after` was altered, made by hand, or taken from another list or integration; or the secret key that signed it is no longer in use.',
    recovery:
      'Pass `next_cursor` of the page before, unchanged. Cursors do not expire; if the operator has removed the secret key that signed one, begin the list again.',
  },
  missing_idempotency_key: {
    status: 400,
    type: 'validation_error',
    message: 'This request needs an Idempotency-Key header.',
    cause: 'A mutating POST came without an `Idempotency-Key` header.',
    recovery:
      'Send a key that is unique for the operation, such as a random UUID, and send the same one when you retry.',
  },
  request_too_large: {
    status: 413,
    type: 'validation_error',
    message: 'The request body is too large.',
    cause: 'The body is over 1 MB (1,048,576 bytes), or over 10 MB on `/bulk`.',
    recovery: 'Send less; split a bulk call into chunks of at most 1000 records.',
  },
  key_reused_with_different_body: {
    status: 409,
    type: 'idempotency_error',
    message: 'This Idempotency-Key was already used for a different request.',
    cause: `Within ${IDEMPOTENCY_RETENTION_HOURS} hours, the same key of this integration came with another body or on another path. Bodies are compared byte by byte.`,
    recovery: 'Use a new key for a new operation; send the identical body to repeat the old one.',
  },
  duplicate_channel_order_id: {
    status: 409,
    type: 'conflict_error',
    message: 'An order with this channel_order_id already exists.',
    cause: 'The integration has already reported an order with this `channel_order_id`.',
    recovery:
      'Give each order an id of its own. To retry safely, repeat the request with its Idempotency-Key. `existing_id` is the id of the order that is there: read it with `GET /v1/orders/{id}`.',
  },
  order_matched: {
    status: 409,
    type: 'conflict_error',
    message: 'The order is matched to a completed sale and cannot be cancelled through the API.',
    cause: 'The dealer has confirmed the order: a completed sale exists.',
    recovery: 'The dealer cancels the sale first, which returns the order to the unmatched queue; then cancel again.',
  },
  customer_contact_conflict: {
    status: 409,
    type: 'conflict_error',
    message: 'These contact details belong to another customer.',
    cause:
      'Email and phone belong to two different customers, or the contact belongs to a customer with another external id.',
    recovery:
      '`param` names the contact that belongs to somebody else. Have the dealer merge the customers in the dashboard, then retry with the same external id.',
  },
  too_many_requests: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The rate limit is used up. Retry after the time given in Retry-After.',
    cause: 'The integration’s requests of the last 60 seconds have used up its tokens.',
    recovery:
      'Wait `Retry-After` seconds. On repeated 429s back off up to min(60, Retry-After × 2^attempts), and stop after five attempts.',
  },
  listing_not_found: {
    status: 404,
    type: 'not_found',
    message: 'No listing with this id.',
    cause:
      'The id is unknown, malformed, or belongs to another dealer; the listing was never on this channel, or was deleted for ever.',
    recovery: 'List again with `GET /v1/listings`.',
  },
  part_not_found: {
    status: 404,
    type: 'not_found',
    message: 'No part with this id.',
    cause: 'The id is unknown, malformed, or belongs to another dealer; or the part was taken off the channel.',
    recovery: 'List again with `GET /v1/parts`.',
  },
  order_not_found: {
    status: 404,
    type: 'not_found',
    message: 'No order with this id.',
    cause:
      'The id is unknown, malformed, or belongs to another dealer or integration; or the order was not ingested yet.',
    recovery: 'List again, or report the order again with a fresh key.',
  },
  reservation_not_found: {
    status: 404,
    type: 'not_found',
    message: 'No reservation with this id.',
    cause: `The id is unknown, malformed, or belongs to another dealer or integration; or the reservation ended more than ${RESERVATION_RETENTION_DAYS} days ago.`,
    recovery: 'List again with `GET /v1/reservations`, or reserve anew.',
  },
  not_ready: {
    status: 503,
    type: 'api_error',
    message: 'This process takes no requests at the moment.',
    cause: 'The process is starting or about to stop, or its database does not answer. Only `/v1/ready` says so.',
    recovery: 'Nothing for clients of the API: a load balancer sends requests to another process meanwhile.',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    message: 'Something went wrong on our side.',
    cause: 'An unexpected fault in the server.',
    recovery: 'Retry with backoff. If it stays, contact support with the `request_id`.',
  },
  lookup_failed: {
    status: 500,
    type: 'api_error',
    message: 'A lookup before the write failed. Nothing was changed.',
    cause:
      'The database could not be reached, or the lookup before a write failed. Also: the dealer went live while a test write waited; retried, it is a live one.',
    recovery: 'Retry with the same Idempotency-Key.',
  },
  query_failed: {
    status: 500,
    type: 'api_error',
    message: 'The data could not be read just now.',
    cause:
      'A database read failed, or an item cannot be priced because an exchange rate is missing or its price would be too large; no other price is served in its place.',
    recovery: 'Retry with backoff. If an item stays without a price, tell the dealer.',
  },
  upsert_failed: {
    status: 500,
    type: 'api_error',
    message: 'The customer could not be stored. Nothing was changed.',
    cause: '`POST /v1/customers` failed in the database.',
    recovery: 'Retry with the same Idempotency-Key.',
  },
  bulk_upsert_failed: {
    status: 500,
    type: 'api_error',
    message: 'The customers could not be stored. Nothing was changed.',
    cause: '`POST /v1/customers/bulk` failed in the database.',
    recovery: 'Retry with the same Idempotency-Key; split the batch to isolate a bad record.',
  },
  insert_failed: {
    status: 500,
    type: 'api_error',
    message: 'The order could not be stored. Nothing was changed.',
    cause: '`POST /v1/orders` failed in the database.',
    recovery: 'Retry with the same Idempotency-Key.',
  },
  cancel_failed: {
    status: 500,
    type: 'api_error',
    message: 'The order could not be cancelled. Nothing was changed.',
    cause: 'The cancellation failed in the database.',
    recovery: 'Retry the cancellation.',
  },
  // The codes below are additions to the first release's list.
  not_available: {
    status: 409,
    type: 'conflict_error',
    message: 'Too few units are left.',
    cause:
      'Fewer units can be sold on this channel than the reservation asks for. `remaining_quantity` says how many: those that orders, other reservations or the dealer hold are not among them, and an item that is unpublished has none.',
    recovery: 'Tell the buyer, or reserve at most `remaining_quantity` units.',
  },
  too_many_reservations: {
    status: 409,
    type: 'conflict_error',
    message: 'The integration has as many active reservations as it may.',
    cause: 'The integration has 100 active reservations. Those that are used, released or expired do not count.',
    recovery:
      'Release reservations that you no longer need, choose a shorter `ttl_seconds`, or wait until some expire.',
  },
  reservation_not_active: {
    status: 409,
    type: 'conflict_error',
    message: 'The reservation is no longer active.',
    cause: 'An order has used the reservation; or, when you extend it, it was released or has expired.',
    recovery:
      'Read its `status`. To hold the units again, make a new reservation; to free the units of an order, cancel the order.',
  },
  reservation_failed: {
    status: 500,
    type: 'api_error',
    message: 'The reservation could not be stored. Nothing was changed.',
    cause: 'Making, extending or releasing a reservation failed in the database.',
    recovery: 'Retry with the same Idempotency-Key.',
  },
  storage_quota_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The integration has stored as much as it may in one day. Retry after the time given in Retry-After.',
    cause:
      'What the integration’s writes have stored since midnight UTC has used up its storage quota. Replays do not count.',
    recovery:
      'Wait `Retry-After` seconds, until the next UTC day begins, and retry with the same Idempotency-Key. If you need more, ask the operator for a larger quota.',
  },
  ping_failed: {
    status: 500,
    type: 'api_error',
    message: 'The test event could not be recorded. Nothing was changed.',
    cause: '`POST /v1/test/webhook_ping` failed in the database.',
    recovery: 'Retry with the same Idempotency-Key.',
  },
  route_not_found: {
    status: 404,
    type: 'not_found',
    message: 'There is no such endpoint.',
    cause: 'The path names no endpoint of the API. A path with a slash at its end is another one.',
    recovery: 'Compare the path in `message` with the reference; every path begins with `/api/v1`.',
  },
  method_not_allowed: {
    status: 405,
    type: 'validation_error',
    message: 'This endpoint does not take this method.',
    cause: 'The endpoint exists, but not for this HTTP method.',
    recovery: 'Use a method that the `Allow` response header names.',
  },
  idempotency_key_in_use: {
    status: 409,
    type: 'idempotency_error',
    message: 'A request with this Idempotency-Key is still running.',
    cause: 'Another request with the same key had not finished after 10 seconds of waiting.',
    recovery: 'Retry with the same key after `Retry-After` seconds.',
  },
  request_timeout: {
    status: 408,
    type: 'validation_error',
    message: 'The request did not arrive in time.',
    cause: 'The client sent its headers or body too slowly, or stopped in the middle.',
    recovery: 'Send the request again, on a new connection.',
  },
  headers_too_large: {
    status: 431,
    type: 'validation_error',
    message: 'The request headers are too large.',
    cause: 'The request line and headers together are over 16 KB, or there are more than 200 headers.',
    recovery: 'Send fewer or shorter headers, and a shorter URL.',
  },
  overloaded: {
    status: 503,
    type: 'api_error',
    message:
      'Too many reads or large bodies of this integration are under way. Retry after the time given in Retry-After.',
    cause:
      'One of four. A read waited 5 seconds for other reads of the same integration to finish: the number of concurrent reads is limited, and large answers that you have not read yet count. A body over 128 KiB waited 5 seconds while 32 MiB of large bodies of the same integration were under way. The address that you connect from has too many connections open: then the connection is closed before its request is read. Or, as `message` then says, the disk of the service is nearly full: writes are refused until its operator has made room, and reads go on.',
    recovery:
      'Wait `Retry-After` seconds and retry with backoff, a write with the same Idempotency-Key. If the disk is nearly full, keep the writes until they pass. Otherwise send fewer reads and large bodies at the same time, read the answers that you asked for, and use a connection for several requests.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof entries;

export const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = entries;

export const ERROR_CODES = Object.keys(entries) as readonly ErrorCode[];

export const ERROR_TYPES = [...new Set(ERROR_CODES.map((code) => ERRORS[code].type))];

/** Facts that some codes carry besides the message, for the recovery that the code describes. */
export type ErrorFacts = {
  /** With `duplicate_channel_order_id`: the order that already has the id. */
  existing_id?: string;
  /** With `not_available`: how many units can be reserved. */
  remaining_quantity?: number;
};

export type ErrorDetails = {
  /** Replaces the catalogue's message. Written for the client: it never carries internals. */
  message?: string;
  /** JSON path, query parameter or header name of the offending input. */
  param?: string;
  headers?: Record<string, string>;
  /** Facts that a program can act on. Each is in the envelope under its name. */
  facts?: ErrorFacts;
  /** What really happened; it goes to the log and never to the client. */
  cause?: unknown;
};

/** The only error that a client sees as it is. Any other becomes `internal_error`. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly headers: Record<string, string>;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.message ?? ERRORS[code].message, { cause: details.cause });
    this.name = 'ApiError';
    this.code = code;
    this.param = details.param;
    this.headers = details.headers ?? {};
    this.facts = details.facts ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

export type ErrorEnvelope = {
  error: {
    type: ErrorType;
    code: ErrorCode;
    message: string;
    doc_url: string;
    request_id: string;
    param?: string;
  } & ErrorFacts;
};

export function errorEnvelope(error: ApiError, requestId: string, publicUrl: string): ErrorEnvelope {
  return {
    error: {
      type: ERRORS[error.code].type,
      code: error.code,
      message: error.message,
      doc_url: `${publicUrl}/docs/api/errors#${error.code}`,
      request_id: requestId,
      ...(error.param === undefined ? {} : { param: error.param }),
      ...error.facts,
    },
  };
}
