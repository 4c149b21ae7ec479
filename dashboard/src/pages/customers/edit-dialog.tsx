import { Alert, Button, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Input } from '../../api/client.ts';
import { queryClient, readAnew, useOperation } from '../../api/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { COUNTRIES } from '../settings/business-choices.ts';
import { type CustomerPage, customerQuery, nameOf } from './customer-queries.ts';

const TEXT_LIMIT = 500;
const FIELDS = { first_name: 'First name', last_name: 'Last name', company: 'Company', email: 'Email', phone: 'Phone' };
const ADDRESS = {
  line1: 'Street',
  line2: 'Further line',
  postal_code: 'Postal code',
  city: 'City',
  state: 'State or canton',
  country: 'Country',
};
type Field = keyof typeof FIELDS;
type AddressField = keyof typeof ADDRESS;
type Values = Record<Field, string> & { address: Record<AddressField, string> };

/** Begins from what was shown when it opened: a live update changes no field that is being edited. */
export function EditDialog({ customer, onClose }: { customer: CustomerPage; onClose: () => void }) {
  const [begun] = useState(customer);
  const [theirs, setTheirs] = useState<CustomerPage | null>(null);
  const form = useForm<Values>({ initialValues: valuesOf(begun) });
  const save = useOperation('PATCH /customers/{customer_id}', {
    success: 'Saved.',
    onSuccess() {
      onClose();
      void readAnew('customer');
    },
    onFailure(error) {
      if (error.code !== 'changed_meanwhile') return false;
      void queryClient.fetchQuery({ ...customerQuery(begun.id), staleTime: 0 }).then(setTheirs);
      return true;
    },
    form: {
      values: form.values,
      setFieldError: (field, message) => form.setFieldError(field, withLabel(field, message)),
    },
  });
  const isDirty = form.isDirty();
  const submit = (values: Values) => {
    const body = { updated_at: (theirs ?? begun).updated_at, ...changesOf(values, valuesOf(begun)) };
    save.mutate({ params: { customer_id: begun.id }, body });
  };
  return (
    <Dialog opened onClose={onClose} title={`Edit ${nameOf(begun)}`} size="lg">
      <form onSubmit={form.onSubmit(submit)}>
        <Stack gap="sm">
          {theirs === null ? null : <Changed mine={form.values} begun={valuesOf(begun)} theirs={valuesOf(theirs)} />}
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            {(Object.keys(FIELDS) as Field[]).map((field) => (
              <TextInput key={field} label={FIELDS[field]} maxLength={TEXT_LIMIT} {...form.getInputProps(field)} />
            ))}
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            {(Object.keys(ADDRESS) as AddressField[]).map((field) =>
              field === 'country' ? (
                <Select
                  key={field}
                  label={ADDRESS[field]}
                  data={COUNTRIES}
                  searchable
                  clearable
                  value={form.values.address.country || null}
                  onChange={(value) => form.setFieldValue('address.country', value ?? '')}
                />
              ) : (
                <TextInput
                  key={field}
                  label={ADDRESS[field]}
                  maxLength={TEXT_LIMIT}
                  {...form.getInputProps(`address.${field}`)}
                />
              ),
            )}
          </SimpleGrid>
          <Text size="sm" c="dimmed">
            Orders keep what was reported with them.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isDirty} loading={save.isPending}>
              {theirs === null ? 'Save' : 'Save mine'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

type ChangedProps = { mine: Values; begun: Values; theirs: Values };

/** A site or a colleague was faster: what differs stands side by side, and the person chooses. */
function Changed({ mine, begun, theirs }: ChangedProps) {
  const [own, before, other] = [flat(mine), flat(begun), flat(theirs)];
  const differing = Object.keys(own).filter((label) => other[label] !== before[label] && other[label] !== own[label]);
  return (
    <Alert color="brass" title="This customer has changed meanwhile.">
      {differing.length === 0 ? (
        <Text size="sm">You changed different fields: both changes can stand.</Text>
      ) : (
        differing.map((label) => (
          <Text size="sm" key={label}>
            {label}: yours is “{own[label]}”, now it is “{other[label]}”.
          </Text>
        ))
      )}
    </Alert>
  );
}

function flat({ address, ...fields }: Values): Record<string, string> {
  return Object.fromEntries([
    ...Object.entries(FIELDS).map(([field, label]) => [label, fields[field as Field]]),
    ...Object.entries(ADDRESS).map(([field, label]) => [label, address[field as AddressField]]),
  ]);
}

/** The service calls a field by its name in the API; here it is called as beside its input. */
function withLabel(field: string, message: string): string {
  const labels: Record<string, string> = { ...FIELDS, ...ADDRESS };
  const label = labels[field.replace('address.', '')];
  return label !== undefined && message.startsWith(`${field} `) ? `${label}${message.slice(field.length)}` : message;
}

function valuesOf(customer: CustomerPage): Values {
  const { first_name, last_name, company, email, phone, address } = customer;
  const text = (value: string | null | undefined) => value ?? '';
  return {
    first_name: text(first_name),
    last_name: text(last_name),
    company: text(company),
    email: text(email),
    phone: text(phone),
    address: {
      line1: text(address?.line1),
      line2: text(address?.line2),
      postal_code: text(address?.postal_code),
      city: text(address?.city),
      state: text(address?.state),
      country: text(address?.country),
    },
  };
}

type Change = Omit<Input<'PATCH /customers/{customer_id}'>['body'], 'updated_at'>;

/** Only what was edited, so that what others changed in other fields stays. */
function changesOf(values: Values, begun: Values): Change {
  const change: Change = {};
  for (const field of Object.keys(FIELDS) as Field[]) {
    if (values[field] !== begun[field]) change[field] = values[field].trim() || null;
  }
  const isMoved = Object.keys(ADDRESS).some(
    (field) => values.address[field as AddressField] !== begun.address[field as AddressField],
  );
  if (isMoved) change.address = Object.values(values.address).every((text) => text === '') ? null : values.address;
  return change;
}
