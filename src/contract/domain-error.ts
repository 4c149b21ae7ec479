/**
 * The one error of everything below HTTP: an operation refuses what it was asked, with a code and, if one input is to
 * blame, its field. The edges turn it into what their reader knows: http/public into the envelope of the API (whose own
 * catalogue is errors.ts), the dashboard into a status and a field, the command line into one line of text.
 */
const statuses = {
  invalid_input: 400,
  invalid_cursor: 400,
  not_allowed: 403,
  not_found: 404,
  email_taken: 409,
  /** Another customer already has the email or phone. */
  contact_taken: 409,
  last_owner: 409,
  key_taken: 409,
  stock_number_taken: 409,
  /** Somebody else changed the object since the change began. */
  changed_meanwhile: 409,
  not_undoable: 409,
  not_enough_units: 409,
  not_empty: 409,
  promotion_overlaps: 409,
  already_voided: 409,
  already_running: 409,
  /** A dealer, a person or an item has reached a limit on how many there may be (contract/dashboard/limits.ts). */
  limit_reached: 409,
  /** A dealer has reached the limit of unfinished jobs. */
  too_many_jobs: 409,
  too_many_secrets: 409,
  wrong_kind: 409,
  wrong_status: 409,
  nothing_matched: 409,
  /** A change would leave a channel without the exchange rate that it needs. */
  rate_missing: 409,
  rate_in_use: 409,
  /** An exchange rate is missing, or the price would be too large. */
  unpriceable: 409,
} as const satisfies Record<string, 400 | 403 | 404 | 409>;

export type DomainErrorCode = keyof typeof statuses;

/** The status with which the dashboard answers. The public API maps codes to its own catalogue instead. */
export const DOMAIN_ERROR_STATUS: Readonly<Record<DomainErrorCode, 400 | 403 | 404 | 409>> = statuses;

export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: DomainErrorCode;
  /** JSON path of the input that is to blame, if one is. */
  readonly field: string | undefined;

  /** The message is written for the person who asked; what really happened goes into the cause, which is only logged. */
  constructor(code: DomainErrorCode, message: string, field?: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
    this.field = field;
  }
}
