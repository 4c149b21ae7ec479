/** Numbers from 0 up to 1 that are the same for the same seed, so that a run can be repeated (mulberry32). */
export type Random = () => number;

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomText(random: Random, length: number): string {
  return Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join('');
}
