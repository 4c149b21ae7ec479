import { createHash } from 'node:crypto';

/**
 * The id that a dispatch carries. The first one of a delivery has the delivery's own, which the ping answered with.
 * Those after it have ids of their own that begin like it and end in a hash of it and their number: none has to be
 * stored, and whichever of them somebody finds in a receiver's log leads back to its delivery.
 */
export function dispatchId(deliveryId: string, dispatchesBefore: number): string {
  if (dispatchesBefore === 0) return deliveryId;
  const hash = createHash('sha256').update(`${deliveryId} ${dispatchesBefore}`).digest();
  const end = Array.from(hash.subarray(0, OWN_LENGTH), (byte) => ALPHABET.charAt(byte & 31)).join('');
  return `${commonPart(deliveryId)}${end}`;
}

/** Between these lie the deliveries that a dispatch may belong to: one, unless two nodes made theirs at once. */
export function deliveryRange(id: string): { from: string; to: string } {
  const common = commonPart(id);
  return { from: common + '0'.repeat(OWN_LENGTH), to: common + 'z'.repeat(OWN_LENGTH) };
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 45 bits. What stands before them is the time, the count within it, and the marks of a UUIDv7. */
const OWN_LENGTH = 9;

function commonPart(id: string): string {
  return id.slice(0, -OWN_LENGTH);
}
