import { Button, Group, Menu, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { STRING_LENGTH_LIMIT } from '../../../../src/contract/limits.ts';
import { orderCan, type Permission } from '../../../../src/contract/states/order-can.ts';
import { refresh, useOperation } from '../../api/queries.ts';
import { formatNumber } from '../../format.ts';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { ReasonButton } from '../integrations/reason-button.tsx';
import { type Order, orderQuery, timelineQuery } from './order-queries.ts';

type Dialog = 'confirm' | 'dismiss' | 'cancel-sale' | null;

/** An order may have two hundred lines. */
const NAMED_LIMIT = 5;

/**
 * What is done with an order. Each button has one place in every status: if the next step came up where the last one was,
 * a double-click on "Confirm sale" would tell the website that the watch has shipped, too.
 */
export function OrderActions({ order }: { order: Order }) {
  const [dialog, setDialog] = useState<Dialog>(null);
  const onSuccess = () => {
    setDialog(null);
    return refreshOrder(order.id);
  };
  const confirm = useOperation('POST /orders/{order_id}/confirm', { success: 'The sale is confirmed.', onSuccess });
  const fulfil = useOperation('POST /orders/{order_id}/fulfil', { success: 'Marked as fulfilled.', onSuccess });
  const params = { order_id: order.id };
  const unmatched = order.lines.filter(({ match }) => match === null);
  const can = { confirm: orderCan.confirm(order), fulfil: orderCan.fulfil(order) };
  return (
    <Group gap="xs" wrap="nowrap" className="order-actions">
      <Menu position="bottom-end" width={280}>
        <Menu.Target>
          <Button variant="default">More</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Action label="Dismiss the order" may={orderCan.dismiss(order)} onClick={() => setDialog('dismiss')} />
          <Action label="Cancel the sale" may={orderCan.cancelSale(order)} onClick={() => setDialog('cancel-sale')} />
        </Menu.Dropdown>
      </Menu>
      <ReasonButton
        variant={order.status === 'received' ? 'filled' : 'default'}
        reason={can.confirm.reason}
        loading={confirm.isPending}
        onClick={() => (unmatched.length === 0 ? confirm.mutate({ params }) : setDialog('confirm'))}
      >
        Confirm sale
      </ReasonButton>
      <ReasonButton
        variant={order.status === 'matched' ? 'filled' : 'default'}
        reason={can.fulfil.reason}
        loading={fulfil.isPending}
        onClick={() => fulfil.mutate({ params })}
      >
        Fulfil
      </ReasonButton>
      <Confirm
        isOpen={dialog === 'confirm'}
        title={`Confirm ${formatNumber(order.lines.length - unmatched.length)} of ${formatNumber(order.lines.length)} lines?`}
        verb="Confirm without them"
        keep="Back to matching"
        isBusy={confirm.isPending}
        onClose={() => setDialog(null)}
        onConfirm={() => confirm.mutate({ params })}
      >
        {unmatched.length === 1 ? 'One line has' : `${formatNumber(unmatched.length)} lines have`} no item and won’t be
        sold:
        <ul className="order-unmatched">
          {unmatched.slice(0, NAMED_LIMIT).map((line) => (
            <li key={line.id}>{line.title ?? line.id}</li>
          ))}
          {unmatched.length > NAMED_LIMIT ? <li>and {formatNumber(unmatched.length - NAMED_LIMIT)} more</li> : null}
        </ul>
        To match them later, cancel the sale first: then the order is back in the queue.
      </Confirm>
      <DismissDialog order={order} isOpen={dialog === 'dismiss'} onClose={() => setDialog(null)} onDone={onSuccess} />
      <CancelSaleDialog
        order={order}
        isOpen={dialog === 'cancel-sale'}
        onClose={() => setDialog(null)}
        onDone={onSuccess}
      />
    </Group>
  );
}

/** Shows what a change did before the live stream says so. It ends when the order is there; the timeline may follow. */
export async function refreshOrder(orderId: string): Promise<void> {
  void refresh({ queryKey: timelineQuery(orderId).queryKey });
  await refresh({ queryKey: orderQuery(orderId).queryKey });
}

function Action({ label, may, onClick }: { label: string; may: Permission; onClick: () => void }) {
  return (
    <Menu.Item color={may.isAllowed ? 'ruby' : undefined} disabled={!may.isAllowed} onClick={onClick}>
      {label}
      {may.reason === null ? null : (
        <Text size="xs" c="dimmed">
          {may.reason}
        </Text>
      )}
    </Menu.Item>
  );
}

type DialogProps = { order: Order; isOpen: boolean; onClose: () => void; onDone: () => Promise<void> };

function DismissDialog({ order, isOpen, onClose, onDone }: DialogProps) {
  const [reason, setReason] = useState('');
  const close = () => {
    setReason('');
    onClose();
  };
  const dismiss = useOperation('POST /orders/{order_id}/dismiss', { success: 'Dismissed.', onSuccess: onDone });
  const body = { reason: reason.trim() === '' ? null : reason.trim() };
  return (
    <Confirm
      isOpen={isOpen}
      title={`Dismiss ${order.channel_order_id}?`}
      verb="Dismiss"
      keep="Keep the order"
      isDangerous
      isBusy={dismiss.isPending}
      onClose={close}
      onConfirm={() => dismiss.mutate({ params: { order_id: order.id }, body })}
    >
      <Text size="sm" mb="sm">
        The order is cancelled for good, its units are free again, and the site gets <code>order.cancelled</code>.
      </Text>
      <Textarea
        label="Reason"
        description="The site reads it."
        maxLength={STRING_LENGTH_LIMIT}
        autosize
        minRows={2}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        data-autofocus
      />
    </Confirm>
  );
}

function CancelSaleDialog({ order, isOpen, onClose, onDone }: DialogProps) {
  const cancel = useOperation('POST /orders/{order_id}/cancel-sale', {
    success: 'The sale is cancelled. The order is back in the queue.',
    onSuccess: onDone,
  });
  return (
    <Confirm
      isOpen={isOpen}
      title="Cancel the sale?"
      verb="Cancel the sale"
      keep="Keep the sale"
      isDangerous
      isBusy={cancel.isPending}
      onClose={onClose}
      onConfirm={() => cancel.mutate({ params: { order_id: order.id } })}
    >
      {order.channel_order_id} returns to the queue without its items. What was sold is back in stock, and every channel
      that shows it gets an event.
    </Confirm>
  );
}
