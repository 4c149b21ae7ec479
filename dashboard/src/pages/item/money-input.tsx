import { NumberInput } from '@mantine/core';
import { exponentOf } from '../../../../src/contract/currencies.ts';
import { AMOUNT_LIMIT } from '../../../../src/contract/limits.ts';
import { NUMBER_SEPARATORS } from '../../format.ts';

type MoneyInputProps = {
  label: string;
  currency: string;
  amount: number | null;
  placeholder?: string;
  description?: string;
  error?: string | undefined;
  isFocused?: boolean;
  onChange: (amount: number | null) => void;
};

/** An amount in minor units, typed in whole units of its currency. */
export function MoneyInput(props: MoneyInputProps) {
  const { label, currency, amount, placeholder, description, error, isFocused = false, onChange } = props;
  const decimals = exponentOf(currency);
  const unit = 10 ** decimals;
  return (
    <NumberInput
      label={`${label} (${currency})`}
      placeholder={placeholder}
      description={description}
      min={0}
      max={AMOUNT_LIMIT / unit}
      // A value that is changed silently when the field is left is worse than one that is refused.
      clampBehavior="none"
      allowNegative={false}
      decimalScale={decimals}
      decimalSeparator={NUMBER_SEPARATORS.decimal}
      thousandSeparator={NUMBER_SEPARATORS.group}
      hideControls
      data-autofocus={isFocused || undefined}
      value={amount === null ? '' : amount / unit}
      error={error}
      onChange={(value) => onChange(value === '' ? null : Math.round(Number(value) * unit))}
    />
  );
}
