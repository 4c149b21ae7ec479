/** Why an operation of the dealer was refused. The dashboard shows the message beside the field it belongs to. */
export type DealerErrorCode =
  | 'not_found'
  | 'invalid_input'
  | 'email_taken'
  | 'key_taken'
  | 'stock_number_taken'
  | 'not_enough_units'
  | 'promotion_overlaps'
  | 'already_voided'
  | 'wrong_kind'
  | 'wrong_status'
  | 'nothing_matched';

export class DealerError extends Error {
  override readonly name = 'DealerError';
  readonly code: DealerErrorCode;
  /** JSON path of the input that is to blame, if one is. */
  readonly field: string | undefined;

  constructor(code: DealerErrorCode, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
