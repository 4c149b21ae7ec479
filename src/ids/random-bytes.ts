import { randomFillSync } from 'node:crypto';

/** Random bytes are made for many ids at once: one call costs more than the rest of an id. */
const drawn = Buffer.alloc(16 * 256);
let used = drawn.length;

/** Sixteen random bytes, the caller's until the pool is filled anew: to be used at once. */
export function draw16(): Buffer {
  const start = drawStart();
  return drawn.subarray(start, start + 16);
}

/** The same as 32 hex digits, without an object for the bytes. */
export function draw16Hex(): string {
  const start = drawStart();
  return drawn.toString('hex', start, start + 16);
}

function drawStart(): number {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += 16;
  return used - 16;
}
