import { NumberInput, Stack } from '@mantine/core';
import { useState } from 'react';
import { useOperation } from '../../../api/queries.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { type StockChoice, StockPicker } from '../../../ui/stock-picker.tsx';
import { refreshOrder } from '../order-actions.tsx';
import type { Order } from '../order-queries.ts';

/** Without a line, one is added to the order. */
type MatchDialogProps = { order: Order; lineId: string | null; onClose: () => void };

/** Finds an item of the stock by hand, for a line or for a new one. */
export function MatchDialog({ order, lineId, onClose }: MatchDialogProps) {
  const line = order.lines.find(({ id }) => id === lineId) ?? null;
  const [units, setUnits] = useState(1);
  const wanted = line?.quantity ?? units;
  const match = useOperation('POST /orders/{order_id}/match', {
    // A line that is added again is another line.
    isNamed: true,
    success: order.is_test ? 'Matched.' : 'Matched. The units are held for this order.',
    onSuccess: () => {
      onClose();
      return refreshOrder(order.id);
    },
  });
  const choose = (item: StockChoice) => {
    const params = { order_id: order.id };
    match.mutate({ params, body: { line_id: lineId, item_id: item.id, ...(line === null ? { units } : {}) } });
  };
  return (
    <Dialog
      opened
      onClose={onClose}
      size="lg"
      title={line === null ? 'Add an item' : `Match ${line.title ?? 'a line'}`}
    >
      <Stack gap="sm">
        {line === null ? (
          <NumberInput
            label="Units"
            w={120}
            min={1}
            allowDecimal={false}
            value={units}
            onChange={(value) => setUnits(Number(value) || 1)}
          />
        ) : null}
        <StockPicker verb="Match" unitsWanted={wanted} isBusy={match.isPending} onChoose={choose} />
      </Stack>
    </Dialog>
  );
}
