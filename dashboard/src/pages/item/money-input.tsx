import { exponentOf } from '../../../../src/contract/currencies.ts';
import { AMOUNT_LIMIT } from '../../../../src/contract/limits.ts';
import { DecimalInput, type DecimalInputProps } from '../../ui/fields/decimal-input.tsx';

type MoneyInputProps = Omit<DecimalInputProps, 'decimals' | 'units' | 'min' | 'max'> & {
  currency: string;
  /** `UNREADABLE` while what is typed is no amount. */
  amount: number | null;
};

/** An amount in minor units, typed in whole units of its currency. */
export function MoneyInput({ label, currency, amount, ...others }: MoneyInputProps) {
  const decimals = exponentOf(currency);
  return (
    <DecimalInput label={`${label} (${currency})`} decimals={decimals} units={amount} max={AMOUNT_LIMIT} {...others} />
  );
}
