import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useRef, useState } from 'react';
import { read, useKeptQuery } from '../../api/queries.ts';

const TYPING_PAUSE_MS = 250;
const BUYER = 'Optional. A customer that one of your sites has reported.';

const UNKNOWN = 'Choose a customer of the list, or clear the field. Customers come from your sites’ orders.';

type CustomerPickerProps = {
  /** Of the customer that is chosen already. */
  name: string | null;
  customerId: string | null;
  onChange: (customerId: string | null) => void;
  /** Whether something is typed that is no choice yet: a form must not be sent as if it were nobody. */
  onOpen?: (isOpen: boolean) => void;
  label?: string;
  description?: string;
  error?: string | null;
  /** Among test customers. */
  isTest?: boolean;
};

/** One of the dealer's customers, or nobody in particular: who bought it, unless the label says otherwise. */
export function CustomerPicker(props: CustomerPickerProps) {
  const {
    name,
    customerId,
    onChange,
    label = 'Buyer',
    description = BUYER,
    error = null,
    isTest = false,
    onOpen,
  } = props;
  const [text, setText] = useState(name ?? '');
  const [q] = useDebouncedValue(text.trim(), TYPING_PAUSE_MS);
  const { data } = useKeptQuery(
    read('GET /customer-choices', { query: { q, ...(isTest ? { is_test: 'yes' as const } : {}) } }, ['customer']),
  );
  const found = (data?.data ?? []).map((customer) => ({
    value: customer.id,
    label: [customer.name, customer.email, customer.phone].filter((part) => part !== null).join(', '),
  }));
  const input = useRef<HTMLInputElement>(null);
  const [hasLeft, setLeft] = useState(false);
  const isOpen = customerId === null && text.trim() !== '';
  const type = (next: string) => {
    // Who leaves the field without a choice keeps what was typed. The Select empties it, by a change without the focus.
    if (next === '' && customerId === null && document.activeElement !== input.current) return;
    setText(next);
    setLeft(false);
    onOpen?.(customerId === null && next.trim() !== '');
  };
  const isKnown = customerId === null || found.some(({ value }) => value === customerId);
  return (
    <Select
      label={label}
      description={description}
      ref={input}
      error={error ?? (isOpen && hasLeft ? UNKNOWN : null)}
      placeholder="Name, email or phone"
      searchable
      clearable
      data={isKnown ? found : [{ value: customerId, label: name ?? customerId }, ...found]}
      filter={({ options }) => options}
      nothingFoundMessage="No customer begins with that."
      value={customerId}
      searchValue={text}
      onSearchChange={type}
      onBlur={() => setLeft(true)}
      onChange={(id) => {
        onChange(id);
        onOpen?.(false);
      }}
    />
  );
}
