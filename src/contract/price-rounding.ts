/** The rules by which prices are rounded and changed, in whole minor units, for the service and for what its pages preview. */

const BASIS = 10_000n;

/** The multiple of a step that is nearest to a fraction, half a step upwards. A price above zero never becomes free by it. */
export function roundedToStep(numerator: bigint, denominator: bigint, step: bigint): bigint {
  if (numerator === 0n) return 0n;
  const whole = denominator * step;
  const rounded = ((2n * numerator + whole) / (2n * whole)) * step;
  return rounded === 0n ? step : rounded;
}

/** By basis points or by an amount, then to a multiple of a step. */
export type PriceChange = { basisPoints: number | null; amount: number | null; roundTo: number | null };

/** Null if the price would be below zero. */
export function changedPrice(price: number, { basisPoints, amount, roundTo }: PriceChange): number | null {
  const changed =
    basisPoints === null
      ? (BigInt(price) + BigInt(amount ?? 0)) * BASIS
      : BigInt(price) * (BASIS + BigInt(basisPoints));
  return changed < 0n ? null : Number(roundedToStep(changed, BASIS, BigInt(roundTo ?? 1)));
}
