import { Group, NumberInput, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { exponentOf } from '../../../../src/contract/currencies.ts';
import { PERCENT_MAX } from '../../../../src/contract/dashboard/stock/bulk.ts';
import { formatMoney } from '../../format.ts';
import type { StockItem } from './stock-queries.ts';

/** As the operation takes it: hundredths of a percent, or an amount in minor units. */
export type PriceChange = { basis_points?: number; amount?: number; round_to?: number };

type PriceFieldsProps = {
  currency: string;
  example: StockItem | undefined;
  /** Null while nothing is entered. */
  onChange: (change: PriceChange | null) => void;
};

const STEPS = [1, 5, 10, 50, 100];

/** By how much prices change, with what that makes of one of them. */
export function PriceFields({ currency, example, onChange }: PriceFieldsProps) {
  const [by, setBy] = useState<'percent' | 'amount'>('percent');
  const [value, setValue] = useState<string | number>('');
  const [step, setStep] = useState<string | null>(null);
  const scale = 10 ** exponentOf(currency);
  const changeOf = (fields: { by: typeof by; value: string | number; step: string | null }): PriceChange | null => {
    if (fields.value === '' || fields.value === '-' || Number(fields.value) === 0) return null;
    const figure = Number(fields.value);
    return {
      ...(fields.by === 'percent'
        ? { basis_points: Math.round(figure * 100) }
        : { amount: Math.round(figure * scale) }),
      ...(fields.step === null ? {} : { round_to: Number(fields.step) * scale }),
    };
  };
  const update = (fields: Partial<{ by: typeof by; value: string | number; step: string | null }>) => {
    const all = { by, value, step, ...fields };
    setBy(all.by);
    setValue(all.value);
    setStep(all.step);
    onChange(changeOf(all));
  };
  const change = changeOf({ by, value, step });
  const before = example?.price?.amount ?? null;
  return (
    <Stack gap="sm">
      <SegmentedControl
        value={by}
        onChange={(next) => update({ by: next as typeof by, value: '' })}
        data={[
          { value: 'percent', label: 'By percent' },
          { value: 'amount', label: `By amount, ${currency}` },
        ]}
      />
      <Group grow align="flex-start">
        <NumberInput
          label={by === 'percent' ? 'Percent' : `Amount, ${currency}`}
          description="Minus lowers prices."
          data-autofocus
          hideControls
          decimalScale={by === 'percent' ? 2 : exponentOf(currency)}
          min={by === 'percent' ? -100 : undefined}
          max={by === 'percent' ? PERCENT_MAX : undefined}
          value={value}
          onChange={(next) => update({ value: next })}
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
          {formatMoney(changedPrice(before, change), currency)}
        </Text>
      )}
    </Stack>
  );
}

/** As the service computes it; shown as an example only. */
function changedPrice(price: number, { basis_points: points, amount = 0, round_to: step = 1 }: PriceChange): number {
  const raised = points === undefined ? price + amount : price + (price * points) / 10_000;
  return Math.max(0, Math.round(raised / step) * step);
}
