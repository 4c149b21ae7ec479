import Type, { type Static } from 'typebox';
import { STRING_LENGTH_LIMIT } from '../../limits.ts';
import { Address } from '../../resources/common.ts';
import { AddressInput, identityFields, optionalText } from '../../resources/customer.ts';
import { Count, listOf, listQuery } from '../list.ts';
import { operation } from '../operation.ts';
import { NamedIntegration, nullable } from '../schema-parts.ts';
import { Money } from '../stock/stock.ts';
import { CustomerGlance, TestData } from './orders.ts';

const Time = Type.String({ format: 'date-time' });
const OptionalText = nullable(Type.String());
const Spent = nullable(Type.Array(Money), 'Completed sales by currency; null if they are too many to add up.');

export const CustomerRow = Type.Object(
  {
    ...CustomerGlance.properties,
    company: OptionalText,
    is_test: Type.Boolean(),
    channels: Type.Array(NamedIntegration, { description: 'That have an id of their own for the customer.' }),
    orders: Count,
    spent: Spent,
    created_at: Time,
  },
  { $id: 'CustomerRow' },
);

const personal = {
  email: OptionalText,
  phone: OptionalText,
  first_name: OptionalText,
  last_name: OptionalText,
  company: OptionalText,
  address: nullable(Address),
};

const Link = Type.Object({
  integration_id: Type.String(),
  channel_name: nullable(Type.String(), 'Null if the integration is not the dealer’s any more.'),
  external_id: Type.String(),
});

export const CustomerPage = Type.Object(
  {
    id: Type.String(),
    name: OptionalText,
    is_test: Type.Boolean(),
    ...personal,
    links: Type.Array(Link, { description: 'What the channels call the customer.' }),
    orders: Count,
    last_order_at: nullable(Time),
    spent: Spent,
    created_at: Time,
    updated_at: Type.String({ format: 'date-time', description: 'A save names the one that it began from.' }),
  },
  { $id: 'CustomerPage' },
);
export type CustomerPage = Static<typeof CustomerPage>;

export const CustomerConflict = Type.Object(
  {
    order: Type.Object({
      id: Type.String(),
      channel_order_id: Type.String(),
      channel_name: OptionalText,
      is_test: Type.Boolean(),
      created_at: Time,
    }),
    buyer: Type.Object(
      { name: OptionalText, email: OptionalText, phone: OptionalText, external_id: OptionalText },
      { description: 'As reported.' },
    ),
    customers: Type.Array(CustomerGlance, { description: 'Whom the buyer may be.' }),
    is_decided_by_merge: Type.Boolean({ description: 'Merging these customers gives them the order.' }),
  },
  { $id: 'CustomerConflict' },
);

const Field = Type.Union([
  Type.Object({
    field: Type.Unsafe<'email' | 'phone' | 'first_name' | 'last_name' | 'company'>({
      type: 'string',
      enum: ['email', 'phone', 'first_name', 'last_name', 'company'],
    }),
    kept: OptionalText,
    merged: OptionalText,
    result: OptionalText,
  }),
  Type.Object({
    field: Type.Literal('address'),
    kept: nullable(Address),
    merged: nullable(Address),
    result: nullable(Address),
  }),
]);

export const MergePreview = Type.Object(
  {
    kept: CustomerGlance,
    merged: CustomerGlance,
    fields: Type.Array(Field, { description: 'What each has, and what the kept one has afterwards.' }),
    moved_orders: Count,
    moved_links: Type.Array(Link),
    resolved_orders: Type.Integer({ description: 'Orders in conflict between the two, which are decided by it.' }),
  },
  { $id: 'MergePreview' },
);
export type MergePreview = Static<typeof MergePreview>;

export const Erasure = Type.Object(
  {
    id: Type.String(),
    is_done: Type.Boolean(),
    step: Type.Integer(),
    steps: Type.Integer(),
    looked_at: Type.Integer({ description: 'Records that were searched.' }),
    changed: Type.Integer({ description: 'Records that named the person.' }),
    error: nullable(Type.String(), 'Why the last batch failed; it is tried again.'),
    created_at: Time,
    finished_at: nullable(Time),
  },
  { $id: 'Erasure' },
);

const customer = Type.Object({ customer_id: Type.String() });
const pair = Type.Object({ customer_id: Type.String(), merged_id: Type.String() });
const { external_id: _externalId, ...contact } = identityFields;

export const customerOperations = {
  listCustomers: operation({
    method: 'GET',
    path: '/customers',
    access: 'staff',
    description:
      'Customers of all channels, newest first. `q` finds a name, company, email, phone, an external id or the beginning of one, or an id.',
    query: listQuery({ test: Type.Optional(TestData) }),
    response: listOf(CustomerRow),
  }),
  listCustomerConflicts: operation({
    method: 'GET',
    path: '/customers/conflicts',
    access: 'staff',
    description: 'The newest orders whose reported buyer is several customers, with those customers.',
    query: Type.Object({ test: Type.Optional(TestData) }),
    response: Type.Object({ data: Type.Array(CustomerConflict), count: Count }),
  }),
  exportCustomers: operation({
    method: 'GET',
    path: '/customers/export.csv',
    access: 'staff',
    description:
      'Customers as CSV, newest first, with the filters of the list; at most 100,000 and 512 MB. Cells that a spreadsheet would run as formulas are text.',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })), test: Type.Optional(TestData) }),
    response: 'text/csv',
  }),
  listErasures: operation({
    method: 'GET',
    path: '/customers/erasures',
    access: 'staff',
    description: 'How far erasures of persons are: those under way and those of the last day, newest first.',
    response: Type.Object({ data: Type.Array(Erasure) }),
  }),
  getCustomer: operation({
    method: 'GET',
    path: '/customers/{customer_id}',
    access: 'staff',
    description: 'A customer with what the channels call them, their orders and what they spent.',
    params: customer,
    response: CustomerPage,
  }),
  changeCustomer: operation({
    method: 'PATCH',
    path: '/customers/{customer_id}',
    access: 'staff',
    description:
      'Corrects what is known of a customer; absent fields stay. Refused with `changed_meanwhile` if something changed since `updated_at`, and with `contact_taken` if the email or phone is another customer’s.',
    params: customer,
    body: Type.Object({
      updated_at: Time,
      ...contact,
      phone: Type.Optional(nullable(Type.String({ maxLength: STRING_LENGTH_LIMIT }))),
      company: optionalText('Company.'),
      address: Type.Optional(nullable(AddressInput)),
    }),
    response: null,
  }),
  previewCustomerMerge: operation({
    method: 'GET',
    path: '/customers/{customer_id}/merge/{merged_id}',
    access: 'staff',
    description: 'What each field becomes if the second customer is merged into the first. Nothing changes.',
    params: pair,
    response: MergePreview,
  }),
  mergeCustomers: operation({
    method: 'POST',
    path: '/customers/{customer_id}/merge/{merged_id}',
    access: 'staff',
    description:
      'Merges the second customer into the first, which takes over orders, external ids and what it lacks. It can’t be undone.',
    params: pair,
    response: null,
  }),
  eraseCustomer: operation({
    method: 'POST',
    path: '/customers/{customer_id}/erase',
    access: 'owner',
    overQuota: 'served',
    description:
      'Erases a person for ever. The customer is gone at once. A job then empties orders (customer, addresses and metadata; amounts and lines stay), events, stored answers and logs. No event is sent.',
    params: customer,
    response: null,
  }),
  exportCustomer: operation({
    method: 'GET',
    path: '/customers/{customer_id}/export',
    access: 'staff',
    description:
      'What the dealer keeps about one person as JSON: the customer, external ids, orders and counter sales.',
    params: customer,
    response: 'application/json',
  }),
};
