import { Button, Group, Modal, NumberInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { readAnew, useOperation } from '../../api/queries.ts';
import { formatNumber } from '../../format.ts';
import { useSession } from '../../shell/session/session.ts';
import { showOwnRow } from '../../table/rows/own-rows.ts';
import { type StockChoice, StockPicker } from '../../ui/stock-picker.tsx';
import { Thumbnail } from '../../ui/thumbnail.tsx';
import { MoneyInput } from '../item/money-input.tsx';
import { CustomerPicker } from './customer-picker.tsx';

/** A sale over the counter, in two steps: what was sold, then for how much and to whom. */
export function RecordSaleDialog({ onClose }: { onClose: () => void }) {
  const [item, setItem] = useState<StockChoice | null>(null);
  return (
    <Modal opened onClose={onClose} size="lg" title="Record a sale">
      {item === null ? (
        <StockPicker verb="Choose" unitsWanted={1} isBusy={false} onChoose={setItem} />
      ) : (
        <SaleForm item={item} onBack={() => setItem(null)} onClose={onClose} />
      )}
    </Modal>
  );
}

type SaleFormProps = { item: StockChoice; onBack: () => void; onClose: () => void };

function SaleForm({ item, onBack, onClose }: SaleFormProps) {
  const { organization } = useSession();
  const free = item.units - item.reserved_units;
  const price = item.promotion_amount ?? item.price?.amount ?? null;
  const [units, setUnits] = useState<number | string>(1);
  // Null until somebody types one: then it follows the units.
  const [typed, setTyped] = useState<{ amount: number | null } | null>(null);
  const amount = typed === null ? (price === null ? null : price * Number(units)) : typed.amount;
  const [customerId, setCustomerId] = useState<string | null>(null);
  const record = useOperation('POST /sales', {
    success: 'The sale is recorded.',
    isNamed: true,
    async onSuccess({ id }) {
      showOwnRow(id);
      await readAnew('sale');
      onClose();
    },
  });
  const unitsError =
    typeof units === 'number' && units >= 1 && units <= free ? null : `From 1 to ${formatNumber(free)}.`;
  const submit = () => {
    if (typeof units !== 'number' || unitsError !== null) return;
    record.mutate({ body: { item_id: item.id, units, amount, customer_id: customerId } });
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
              {item.stock_number} · {formatNumber(free)} free
            </Text>
          </div>
          <Button variant="subtle" size="compact-sm" onClick={onBack}>
            Change
          </Button>
        </Group>
        <Group grow align="flex-start">
          <NumberInput
            label="Units"
            min={1}
            max={free}
            clampBehavior="none"
            allowDecimal={false}
            value={units}
            error={unitsError}
            onChange={setUnits}
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
        <CustomerPicker name={null} customerId={customerId} onChange={setCustomerId} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={record.isPending}>
            Record the sale
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
