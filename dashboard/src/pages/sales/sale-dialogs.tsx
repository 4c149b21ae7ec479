import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useOperation } from '../../api/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { toastError } from '../../ui/feedback/toasts.ts';
import { MoneyInput } from '../item/money-input.tsx';
import { CustomerPicker } from './customer-picker.tsx';
import type { SaleRow } from './sales-queries.ts';

type DialogProps = { sale: SaleRow; onClose: () => void };

export function VoidSaleDialog({ sale, onClose }: DialogProps) {
  const number = sale.order?.channel_order_id ?? null;
  const voiding = useOperation('POST /sales/{sale_id}/void', {
    success: number === null ? 'The sale is voided.' : `The sale is voided. ${number} is back in the queue.`,
    onSuccess: onClose,
  });
  return (
    <Confirm
      isOpen
      title={`Void the sale of ${sale.title}?`}
      verb="Void the sale"
      keep="Keep the sale"
      isDangerous
      isBusy={voiding.isPending}
      onClose={onClose}
      onConfirm={() => voiding.mutate({ params: { sale_id: sale.id } })}
    >
      {sale.is_test
        ? 'No stock changes: it was a test. '
        : 'Its units are back in stock, and channels that show the item get an event. '}
      {number === null ? '' : `The whole sale of ${number} is cancelled, and the order returns to the queue.`}
    </Confirm>
  );
}

/** Amount and buyer of a sale. The buyer of an order is decided on the order's own page. */
export function ChangeSaleDialog({ sale, onClose }: DialogProps) {
  const [amount, setAmount] = useState(sale.price?.amount ?? null);
  const [customerId, setCustomerId] = useState(sale.buyer?.customer_id ?? null);
  const isCounter = sale.order === null;
  const change = useOperation('PATCH /sales/{sale_id}', {
    success: 'Corrected.',
    onSuccess: onClose,
    onFailure(error) {
      toastError(error);
      return true;
    },
  });
  const body = { amount, ...(isCounter ? { customer_id: customerId } : {}) };
  return (
    <Dialog opened onClose={onClose} title={`Correct the sale of ${sale.title}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ params: { sale_id: sale.id }, body });
        }}
      >
        <Stack>
          <MoneyInput
            label="Amount"
            currency={sale.currency}
            amount={amount}
            placeholder="Not said"
            error={undefined}
            onChange={setAmount}
          />
          {isCounter ? (
            <CustomerPicker name={sale.buyer?.name ?? null} customerId={customerId} onChange={setCustomerId} />
          ) : (
            <Text size="sm" c="dimmed">
              The buyer is the one of the order.
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
