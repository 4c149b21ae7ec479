import { Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { ApiFailure } from '../../api/client.ts';
import { readAnew, useOperation } from '../../api/queries.ts';
import { formatNumber } from '../../format.ts';
import { useSession } from '../../shell/session/session.ts';
import { showOwnRow } from '../../table/rows/own-rows.ts';
import { useFocusAtStart } from '../../ui/fields/focus-at-start.ts';
import { Thumbnail } from '../../ui/thumbnail.tsx';
import type { Item } from '../item/item-queries.ts';
import { MoneyInput } from '../item/money-input.tsx';
import { rangeError } from '../item/units-dialog.tsx';
import { CustomerPicker } from './customer-picker.tsx';

/** What is sold over the counter. */
export type SoldItem = {
  id: string;
  kind: Item['kind'];
  title: string;
  stock_number: string;
  thumbnail_url: string | null;
  /** Of one unit, now; null for a price on request. */
  price: number | null;
  free_units: number;
  /** Held by sites for a checkout. A sale over the counter may have them: their reservations are released. */
  site_reserved_units: number;
};

type SaleFormProps = {
  item: SoldItem;
  /** On the button. */
  verb: string;
  /** Beside the item. */
  beside?: ReactNode;
  onSold: () => void;
  /** Units were taken by somebody else meanwhile: what the page shows is old. */
  onOutdated?: () => void;
  onCancel: () => void;
};

/** For how much an item was sold, and to whom. */
export function SaleForm({ item, verb, beside, onSold, onOutdated, onCancel }: SaleFormProps) {
  const { organization } = useSession();
  const first = useFocusAtStart();
  const [units, setUnits] = useState<number | string>(1);
  // Null until somebody types one: then it follows the units.
  const [typed, setTyped] = useState<{ amount: number | null } | null>(null);
  const amount = typed === null ? (item.price === null ? null : item.price * Number(units)) : typed.amount;
  const [customerId, setCustomerId] = useState<string | null>(null);
  const [isBuyerOpen, setBuyerOpen] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const record = useOperation('POST /sales', {
    success: 'The sale is recorded.',
    isNamed: true,
    async onSuccess({ id }) {
      showOwnRow(id);
      await readAnew('sale');
      onSold();
    },
    onFailure(error: ApiFailure) {
      if (error.field !== 'units') return false;
      setRefusal(error.message);
      onOutdated?.();
      return true;
    },
  });
  const limit = item.free_units + item.site_reserved_units;
  const isValid = typeof units === 'number' && units >= 1 && units <= limit;
  const isReleasing = isValid && units > item.free_units;
  const submit = () => {
    if (!isValid || isBuyerOpen) return;
    record.mutate({
      body: { item_id: item.id, units, amount, customer_id: customerId, releases_reservations: isReleasing },
    });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack>
        <Group wrap="nowrap">
          <Thumbnail url={item.thumbnail_url} kind={item.kind} size={56} />
          <div className="suggestion-name">
            <Text fw={600}>{item.title}</Text>
            <Text size="xs" c="dimmed">
              {item.stock_number} · {formatNumber(item.free_units)} free
            </Text>
          </div>
          {beside}
        </Group>
        <Group grow align="flex-start">
          <NumberInput
            ref={first}
            label="Units"
            min={1}
            max={limit}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            data-autofocus
            value={units}
            error={refusal ?? (isValid ? null : rangeError(limit))}
            onChange={(value) => {
              setRefusal(null);
              setUnits(value);
            }}
          />
          <MoneyInput
            label="Amount"
            currency={organization.currency}
            amount={amount}
            placeholder="Not said"
            error={undefined}
            onChange={(value) => setTyped({ amount: value })}
          />
        </Group>
        <CustomerPicker name={null} customerId={customerId} onChange={setCustomerId} onOpen={setBuyerOpen} />
        {isReleasing ? (
          <Text size="sm" role="status">
            {item.free_units === 0 ? 'No unit is' : `Only ${formatNumber(item.free_units)} are`} free: sites hold{' '}
            {formatNumber(item.site_reserved_units)} for a checkout. As many reservations are released as the sale
            needs, those that end first in front.
          </Text>
        ) : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={record.isPending}>
            {isReleasing ? 'Release and sell' : verb}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
