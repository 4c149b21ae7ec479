const KNOWN = new Set(Intl.supportedValuesOf('currency'));

/** ISO 4217, as far as this machine's Intl knows it. */
export function isCurrency(code: string): boolean {
  return KNOWN.has(code);
}
