import { DealerError } from './dealer-error.ts';

const KNOWN = new Set(Intl.supportedValuesOf('currency'));

/** ISO 4217, as far as this machine's Intl knows it. */
export function isCurrency(code: string): boolean {
  return KNOWN.has(code);
}

export function assertCurrency(code: string, field = 'currency'): void {
  if (!isCurrency(code)) throw new DealerError('invalid_input', `${code} is not an ISO 4217 currency.`, field);
}
