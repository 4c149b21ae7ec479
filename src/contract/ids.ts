/**
 * Ids are TypeIDs: a prefix that names the kind of thing, and a UUIDv7 in Crockford's base32. They sort by the time
 * of their making, as text under the "C" collation just as the UUIDs themselves would. src/ids/new-id.ts makes them.
 */
export const ID_PREFIXES = {
  organization: 'org',
  user: 'usr',
  integration: 'int',
  listing: 'lst',
  part: 'prt',
  photo: 'pho',
  order: 'ord',
  orderLine: 'oln',
  reservation: 'rsv',
  sale: 'sal',
  customer: 'cus',
  event: 'evt',
  delivery: 'dlv',
  // These never leave the service.
  businessUnit: 'bun',
  location: 'loc',
  promotion: 'prm',
  job: 'job',
  audit: 'aud',
  signInLink: 'sil',
  view: 'viw',
  stockFile: 'fil',
  mail: 'mal',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** Crockford's alphabet, which leaves out i, l, o and u. */
export const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 128 bits are 26 characters of 5 bits with 2 to spare, so the first character carries 3 bits only. */
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** A malformed id is answered like an unknown one, without a query. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = `${ID_PREFIXES[kind]}_`;
  return text.startsWith(prefix) && SUFFIX.test(text.slice(prefix.length));
}

/** A bound for ids in the order of their making: those made before this time are below it, all others are not. */
export function firstIdAt(kind: IdKind, timeMs: number): string {
  let rest = Math.max(Math.floor(timeMs), 0);
  let text = '';
  // Ten characters are the two spare bits and the 48 bits of the time; everything after them is zero.
  for (let index = 0; index < 10; index++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return `${ID_PREFIXES[kind]}_${text}${'0'.repeat(16)}`;
}

/** When an id was made, in milliseconds: a UUIDv7 begins with it. */
export function idTimeMs(id: string): number {
  const suffix = id.slice(id.indexOf('_') + 1);
  // The first ten characters are the two spare bits and the 48 bits of the time.
  return [...suffix.slice(0, 10)].reduce((time, character) => time * 32 + ALPHABET.indexOf(character), 0);
}
