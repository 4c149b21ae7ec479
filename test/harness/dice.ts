/** Numbers that look random and are the same for the same seed. */
export type Dice = {
  /** A whole number from 0 to below `sides`. */
  roll(sides: number): number;
  pick<Value>(values: readonly Value[]): Value;
};

export function dice(seed: number): Dice {
  let state = seed >>> 0;
  // mulberry32
  const roll = (sides: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
  return { roll, pick: (values) => values[roll(values.length)] as never };
}
