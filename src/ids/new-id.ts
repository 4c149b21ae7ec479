import { randomInt } from 'node:crypto';
import { ALPHABET, ID_PREFIXES, type IdKind } from '../contract/ids.ts';
import { draw16 } from './random-bytes.ts';

let sequenceMs = -1;
let sequence = 0;

/** Ids that one process makes in the same millisecond sort in the order of their making. */
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

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The random part of keys and secrets. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
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
