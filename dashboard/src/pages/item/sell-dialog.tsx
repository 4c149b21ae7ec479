import { useState } from 'react';
import { Dialog } from '../../ui/dialog.tsx';
import { SaleForm } from '../sales/sale-form.tsx';
import type { Item } from './item-queries.ts';
import { SELL_LABEL } from './units-dialog.tsx';

type SellDialogProps = { item: Item; onClose: () => void; onChanged: () => void };

/**
 * A sale over the counter, of the item whose page is open. The form shows the item as it was when it was opened, until the service
 * says that it has changed: if the answer to a sale is lost, the page soon knows what it left, and a form that followed would ask
 * for something else at the next try, which is another sale.
 */
export function SellDialog({ item: latest, onClose, onChanged }: SellDialogProps) {
  const [opened, setOpened] = useState<Item | null>(latest);
  const item = opened ?? latest;
  const promotion = item.promotions.find(({ state }) => state === 'running');
  const sold = {
    ...item,
    thumbnail_url: item.photos[0]?.thumbnail_url ?? null,
    price: promotion?.price_amount ?? item.price_amount,
  };
  return (
    <Dialog opened onClose={onClose} size="lg" title={SELL_LABEL}>
      <SaleForm
        item={sold}
        verb={SELL_LABEL}
        onSold={() => {
          onChanged();
          onClose();
        }}
        onOutdated={() => {
          setOpened(null);
          onChanged();
        }}
        onCancel={onClose}
      />
    </Dialog>
  );
}
