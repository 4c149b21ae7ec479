import { Text } from '@mantine/core';
import { ROUNDING_LABELS } from '../../../../../src/contract/dashboard/integrations/integrations.ts';
import { formatMoney } from '../../../format.ts';
import type { ItemChannel } from '../item-queries.ts';

const BASIS_POINTS_PER_PERCENT = 100;
const ROUNDINGS: Record<string, string> = ROUNDING_LABELS;

/** A price on a channel, and how it came from the dealer’s own. */
export function PriceSteps({ label, steps }: { label: string; steps: ItemChannel['price'] }) {
  if (steps === null) {
    return (
      <Text size="sm" c="dimmed">
        {label}: on request
      </Text>
    );
  }
  if (steps.price === null) {
    return (
      <Text size="sm" c="var(--ruby)">
        {label}: there is no exchange rate from {steps.from.currency} to {steps.currency}.
      </Text>
    );
  }
  const parts = [formatMoney(steps.from.amount, steps.from.currency)];
  if (steps.rate !== null && steps.converted !== null) {
    parts.push(`× ${steps.rate} = ${formatMoney(steps.converted, steps.currency)}`);
  }
  if (steps.markup_basis_points !== 0 && steps.marked_up !== null) {
    const percent = steps.markup_basis_points / BASIS_POINTS_PER_PERCENT;
    parts.push(`${percent > 0 ? '+' : '−'} ${Math.abs(percent)} % = ${formatMoney(steps.marked_up, steps.currency)}`);
  }
  if (steps.rounding !== 'none') parts.push(`rounded ${ROUNDINGS[steps.rounding]?.toLowerCase() ?? steps.rounding}`);
  return (
    <div>
      <Text size="sm">
        {label}: <strong>{formatMoney(steps.price, steps.currency)}</strong>
      </Text>
      {parts.length > 1 ? (
        <Text size="xs" c="dimmed">
          {parts.join(' ')}
        </Text>
      ) : null}
    </div>
  );
}
