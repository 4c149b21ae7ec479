import { randomFillSync, randomInt } from 'node:crypto';

/**
 * Ids are TypeIDs: a prefix that names the kind of thing, and a UUIDv7 in Crockford's base32. They sort by the time
 * of their making, as text under the "C" collation just as the UUIDs themselves would; those that one process makes in
 * the same millisecond sort in the order of their making.
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
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 128 bits are 26 characters of 5 bits with 2 to spare, so the first character carries 3 bits only. */
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

let sequenceMs = -1;
let sequence = 0;

export function newId(kind: IdKind, nowMs: number = Date.now()): string {
  const bytes = draw16();
  // Counted on within the millisecond, from a random start with room above it. 48 bits of chance remain.
  sequence = nowMs === sequenceMs ? sequence + 1 : bytes.readUInt32BE(6) >>> 7;
  sequenceMs = nowMs;
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = 0x70 | ((sequence >>> 22) & 0x0f);
  bytes[7] = sequence >>> 14;
  bytes[8] = 0x80 | ((sequence >>> 8) & 0x3f);
  bytes[9] = sequence;
  return `${ID_PREFIXES[kind]}_${base32(bytes)}`;
}

/** A malformed id is answered like an unknown one; this spares the database the question. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = `${ID_PREFIXES[kind]}_`;
  return text.startsWith(prefix) && SUFFIX.test(text.slice(prefix.length));
}

/** A bound for ids in the order of their making: those made before this time are below it, all others are not. */
export function firstIdAt(kind: IdKind, timeMs: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.max(timeMs, 0), 0, 6);
  return `${ID_PREFIXES[kind]}_${base32(bytes)}`;
}

/** When an id was made, in milliseconds: a UUIDv7 begins with it. */
export function idTimeMs(id: string): number {
  const suffix = id.slice(id.indexOf('_') + 1);
  // The first ten characters are the two spare bits and the 48 bits of the time.
  return [...suffix.slice(0, 10)].reduce((time, character) => time * 32 + ALPHABET.indexOf(character), 0);
}

export function newRequestId(): string {
  return `req_${draw16().toString('hex')}`;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The random part of keys and secrets. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
}

/** Chance is drawn for many ids at once: a draw by itself costs more than all the rest of an id. */
const drawn = Buffer.alloc(16 * 256);
let used = drawn.length;

/** Sixteen random bytes, the caller's until the pool is filled anew: to be used at once. */
function draw16(): Buffer {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += 16;
  return drawn.subarray(used - 16, used);
}

function base32(bytes: Buffer): string {
  let text = '';
  let pending = 0;
  // The two spare bits in front.
  let pendingBits = 2;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    pendingBits += 8;
    while (pendingBits >= 5) {
      pendingBits -= 5;
      text += ALPHABET.charAt((pending >>> pendingBits) & 31);
    }
    pending &= (1 << pendingBits) - 1;
  }
  return text;
}
