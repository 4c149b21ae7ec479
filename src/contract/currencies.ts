/**
 * How many decimals a currency has, by ISO 4217. We don't use the machine's own tables: they follow custom, under which
 * HUF or IDR have no decimals, and they change with its release, which would change prices by a factor of a hundred.
 */
const OTHER_THAN_TWO: Readonly<Record<number, readonly string[]>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' '),
  3: 'BHD IQD JOD KWD LYD OMR TND'.split(' '),
  4: 'CLF UYW'.split(' '),
};

const exponents = new Map(
  Object.entries(OTHER_THAN_TWO).flatMap(([exponent, codes]) => codes.map((code) => [code, Number(exponent)])),
);

/** 2 for USD: its minor unit is a hundredth; 0 for JPY, 3 for KWD. */
export function exponentOf(currency: string): number {
  return exponents.get(currency) ?? 2;
}
