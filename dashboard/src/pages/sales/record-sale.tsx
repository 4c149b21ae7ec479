import { Button } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../ui/dialog.tsx';
import { type StockChoice, StockPicker } from '../../ui/stock-picker.tsx';
import { SaleForm, type SoldItem } from './sale-form.tsx';

/** A sale over the counter, in two steps: what was sold, then for how much and to whom. */
export function RecordSaleDialog({ onClose }: { onClose: () => void }) {
  const [item, setItem] = useState<StockChoice | null>(null);
  return (
    <Dialog opened onClose={onClose} size="lg" title="Record a sale">
      {item === null ? (
        <StockPicker verb="Choose" unitsWanted={1} isBusy={false} onChoose={setItem} />
      ) : (
        <SaleForm
          item={soldItem(item)}
          verb="Record the sale"
          beside={
            <Button variant="subtle" size="compact-sm" onClick={() => setItem(null)}>
              Change
            </Button>
          }
          onSold={onClose}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}

/** The list knows no reservations of sites; an item without a free unit can't be chosen. */
function soldItem({ units, reserved_units, promotion_amount, price, ...item }: StockChoice): SoldItem {
  return {
    ...item,
    price: promotion_amount ?? price?.amount ?? null,
    free_units: units - reserved_units,
    site_reserved_units: 0,
  };
}
