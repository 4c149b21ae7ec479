import { Anchor, Button, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useOperation } from '../../api/queries.ts';
import { formatUnits } from '../../format.ts';
import { paths } from '../../paths.ts';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import type { Item } from './item-queries.ts';

type Sale = Item['sales'][number];

/** Orders that hold units of the item, and its sales, which can be voided. */
export function SalesPanel({ item, onChanged }: { item: Item; onChanged: () => void }) {
  const [voided, setVoided] = useState<Sale | null>(null);
  if (item.orders.length === 0 && item.sales.length === 0) return null;
  return (
    <section className="item-section" aria-label="Orders and sales">
      <Title order={2} size="h4">
        Orders and sales
      </Title>
      {item.orders.length === 0 ? null : (
        <ul className="plain-list" aria-label="Orders that hold units">
          {item.orders.map((order) => (
            <li key={order.order_id}>
              <div>
                <OrderLink id={order.order_id}>{order.channel_order_id}</OrderLink>
                <Text size="xs" c="dimmed">
                  holds {formatUnits(order.units)} · <Time at={order.created_at} />
                </Text>
              </div>
              <Status tone="warn">Holds</Status>
            </li>
          ))}
        </ul>
      )}
      {item.sales.length === 0 ? null : (
        <ul className="plain-list" aria-label="Sales">
          {item.sales.map((sale) => (
            <li key={sale.id}>
              <div>
                <Text size="sm">
                  {formatUnits(sale.units)} sold
                  {sale.order_id === null ? ' over the counter' : ' by '}
                  {sale.order_id === null ? null : <OrderLink id={sale.order_id}>an order</OrderLink>}
                </Text>
                <Text size="xs" c="dimmed">
                  <Time at={sale.created_at} />
                </Text>
              </div>
              {sale.is_voided ? (
                <Status tone="off">Voided</Status>
              ) : (
                <Button size="compact-xs" variant="default" onClick={() => setVoided(sale)}>
                  Void
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {voided === null ? null : (
        <VoidDialog item={item} sale={voided} onClose={() => setVoided(null)} onChanged={onChanged} />
      )}
    </section>
  );
}

type VoidDialogProps = { item: Item; sale: Sale; onClose: () => void; onChanged: () => void };

export function VoidDialog({ item, sale, onClose, onChanged }: VoidDialogProps) {
  const voidSale = useOperation('POST /items/{item_id}/sales/{sale_id}/void', {
    success: 'Sale voided.',
    onSuccess() {
      onChanged();
      onClose();
    },
  });
  return (
    <Confirm
      isOpen
      title="Void this sale?"
      verb="Void sale"
      keep="Keep the sale"
      isDangerous
      isBusy={voidSale.isPending}
      onConfirm={() => voidSale.mutate({ params: { item_id: item.id, sale_id: sale.id } })}
      onClose={onClose}
    >
      {formatUnits(sale.units)} return to stock
      {sale.order_id === null ? '.' : ', and the order returns to the queue.'} Your sites learn of it by events. A
      voided sale can’t be restored: sell again instead.
    </Confirm>
  );
}

function OrderLink({ id, children }: { id: string; children: string }) {
  return (
    <Anchor size="sm" renderRoot={(props) => <Link to={paths.order(id)} {...props} />}>
      {children}
    </Anchor>
  );
}
