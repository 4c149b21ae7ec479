/** Keeps parts of a file in the memory of the whole: they move to the front, one behind the other. */
export function createCompaction(bytes: Buffer): { keep(from: number, to: number): void; kept(): Buffer } {
  let length = 0;
  return {
    keep(from, to) {
      bytes.copyWithin(length, from, to);
      length += Math.min(to, bytes.length) - from;
    },
    kept: () => bytes.subarray(0, length),
  };
}
