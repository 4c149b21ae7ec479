import { Dialog } from '../../ui/dialog.tsx';
import { SaleForm } from '../sales/sale-form.tsx';
import type { Item } from './item-queries.ts';
import { SELL_LABEL } from './units-dialog.tsx';

/** A sale over the counter, of the item whose page is open. */
export function SellDialog({ item, onClose, onChanged }: { item: Item; onClose: () => void; onChanged: () => void }) {
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
        onOutdated={onChanged}
        onCancel={onClose}
      />
    </Dialog>
  );
}
