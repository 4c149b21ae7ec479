import { Group, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { exponentOf } from '../../../../src/contract/currencies.ts';
import { PERCENT_MAX } from '../../../../src/contract/dashboard/stock/bulk.ts';
import { AMOUNT_LIMIT } from '../../../../src/contract/limits.ts';
import { changedPrice } from '../../../../src/contract/price-rounding.ts';
import { formatMoney } from '../../format.ts';
import { DecimalInput, UNREADABLE } from '../../ui/fields/decimal-input.tsx';
import type { StockItem } from './stock-queries.ts';

/** As the operation takes it: hundredths of a percent, or an amount in minor units. */
export type PriceChange = { basis_points?: number; amount?: number; round_to?: number };

type PriceFieldsProps = {
  currency: string;
  example: StockItem | undefined;
  /** Null while nothing is entered, or nothing that can be read. */
  onChange: (change: PriceChange | null) => void;
};

const STEPS = [1, 5, 10, 50, 100];
const BASIS_POINTS_PER_PERCENT = 100;

/** `units` are basis points or minor units. */
type Fields = { by: 'percent' | 'amount'; units: number | null; step: string | null };

/** By how much prices change, with what that makes of one of them. */
export function PriceFields({ currency, example, onChange }: PriceFieldsProps) {
  const [fields, setFields] = useState<Fields>({ by: 'percent', units: null, step: null });
  const { by, units, step } = fields;
  const scale = 10 ** exponentOf(currency);
  const changeOf = ({ by, units, step }: Fields): PriceChange | null => {
    if (units === null || units === 0 || units === UNREADABLE) return null;
    return {
      ...(by === 'percent' ? { basis_points: units } : { amount: units }),
      ...(step === null ? {} : { round_to: Number(step) * scale }),
    };
  };
  const update = (changes: Partial<Fields>) => {
    const all = { ...fields, ...changes };
    setFields(all);
    onChange(changeOf(all));
  };
  const change = changeOf(fields);
  const before = example?.price?.amount ?? null;
  const after = change === null || before === null ? null : priceAfter(before, change);
  return (
    <Stack gap="sm">
      <SegmentedControl
        value={by}
        onChange={(next) => update({ by: next as typeof by, units: null })}
        data={[
          { value: 'percent', label: 'By percent' },
          { value: 'amount', label: `By amount, ${currency}` },
        ]}
      />
      <Group grow align="flex-start">
        <DecimalInput
          key={by}
          label={by === 'percent' ? 'Percent' : `Amount, ${currency}`}
          description="Minus lowers prices."
          isFocused
          decimals={by === 'percent' ? 2 : exponentOf(currency)}
          min={by === 'percent' ? -100 * BASIS_POINTS_PER_PERCENT : -AMOUNT_LIMIT}
          max={by === 'percent' ? PERCENT_MAX * BASIS_POINTS_PER_PERCENT : AMOUNT_LIMIT}
          units={units}
          onChange={(next) => update({ units: next })}
        />
        <Select
          label="Round to"
          description="New prices are multiples of it."
          placeholder="Nothing"
          clearable
          data={STEPS.map((one) => ({ value: String(one), label: formatMoney(one * scale, currency) }))}
          value={step}
          onChange={(next) => update({ step: next })}
        />
      </Group>
      {change === null || before === null ? null : (
        <Text size="sm" role="status">
          For example {example?.title}: {formatMoney(before, currency)} →{' '}
          {after === null ? 'refused, as it would be below zero' : formatMoney(after, currency)}
        </Text>
      )}
    </Stack>
  );
}

/** As the job will compute it. */
function priceAfter(before: number, change: PriceChange): number | null {
  const { basis_points: basisPoints, amount, round_to: roundTo } = change;
  return changedPrice(before, {
    basisPoints: basisPoints ?? null,
    amount: amount ?? null,
    roundTo: roundTo ?? null,
  });
}
