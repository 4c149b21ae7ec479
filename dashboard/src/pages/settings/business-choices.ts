import { ENUMERATIONS } from '../../../../src/contract/enumerations.ts';

/** What the fields of the business offer, by the tables of the browser. */
export type Choice = { value: string; label: string };

export const TAX_TREATMENTS: Choice[] = Object.entries(ENUMERATIONS.tax_treatment).map(([value, label]) => ({
  value,
  label,
}));

const currencyNames = new Intl.DisplayNames(undefined, { type: 'currency' });
export const CURRENCIES: Choice[] = Intl.supportedValuesOf('currency').map((value) => ({
  value,
  label: `${value}, ${currencyNames.of(value) ?? value}`,
}));

export const TIME_ZONES: string[] = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])];

/** Codes of two letters that name something else than a country. */
const NO_COUNTRIES = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']);
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const regionNames = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'none' });

export const COUNTRIES: Choice[] = LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
  // An old code stands for its successor, which has its own line.
  .filter((code) => !NO_COUNTRIES.has(code) && new Intl.Locale(`und-${code}`).maximize().region === code)
  .flatMap((code) => {
    const label = regionNames.of(code);
    return label === undefined ? [] : [{ value: code, label }];
  })
  .sort((one, other) => one.label.localeCompare(other.label));
