import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { read, useKeptQuery } from '../../api/queries.ts';

const TYPING_PAUSE_MS = 250;
const BUYER = 'Optional. A customer that one of your sites has reported.';

type CustomerPickerProps = {
  /** Of the customer that is chosen already. */
  name: string | null;
  customerId: string | null;
  onChange: (customerId: string | null) => void;
  label?: string;
  description?: string;
  error?: string | null;
  /** Among test customers. */
  isTest?: boolean;
};

/** One of the dealer's customers, or nobody in particular: who bought it, unless the label says otherwise. */
export function CustomerPicker(props: CustomerPickerProps) {
  const { name, customerId, onChange, label = 'Buyer', description = BUYER, error = null, isTest = false } = props;
  const [text, setText] = useState(name ?? '');
  const [q] = useDebouncedValue(text.trim(), TYPING_PAUSE_MS);
  const { data } = useKeptQuery(
    read('GET /customer-choices', { query: { q, ...(isTest ? { is_test: 'yes' as const } : {}) } }, ['customer']),
  );
  const found = (data?.data ?? []).map((customer) => ({
    value: customer.id,
    label: [customer.name, customer.email, customer.phone].filter((part) => part !== null).join(', '),
  }));
  const isKnown = customerId === null || found.some(({ value }) => value === customerId);
  return (
    <Select
      label={label}
      description={description}
      error={error}
      placeholder="Name, email or phone"
      searchable
      clearable
      data={isKnown ? found : [{ value: customerId, label: name ?? customerId }, ...found]}
      filter={({ options }) => options}
      nothingFoundMessage="No customer begins with that."
      value={customerId}
      searchValue={text}
      onSearchChange={setText}
      onChange={onChange}
    />
  );
}
