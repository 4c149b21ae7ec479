import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../ui/dialog.tsx';
import { CustomerPicker } from '../sales/customer-picker.tsx';
import { type CustomerPage, nameOf } from './customer-queries.ts';

type MergePickerProps = { customer: CustomerPage; onClose: () => void; onPick: (customerId: string) => void };

/** Whom to merge with. The preview follows before anything changes. */
export function MergePicker({ customer, onClose, onPick }: MergePickerProps) {
  const [customerId, setCustomerId] = useState<string | null>(null);
  const isSame = customerId === customer.id;
  return (
    <Dialog opened onClose={onClose} title={`Merge with ${nameOf(customer)}`}>
      <CustomerPicker
        label="The same person as"
        description="You see what each field becomes before anything changes."
        isTest={customer.is_test}
        name={null}
        customerId={customerId}
        error={isSame ? 'That is this customer.' : null}
        onChange={setCustomerId}
      />
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button disabled={customerId === null || isSame} onClick={() => customerId !== null && onPick(customerId)}>
          Preview
        </Button>
      </Group>
    </Dialog>
  );
}
