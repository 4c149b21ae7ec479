import Type, { type Static } from 'typebox';
import { BULK_RECORDS_LIMIT, METADATA_LIMIT_BYTES, STRING_LENGTH_LIMIT } from '../limits.ts';
import { EXPECTED_ANNOTATION, NOT_ANNOTATION } from '../openapi/openapi-schemas.ts';
import { Address, Nullable, TimestampOf, timestampExample } from './common.ts';
import { addressExample } from './listing.ts';

/**
 * A text that may be left out; null clears it, or counts as left out where there is nothing to clear. So does an empty
 * one: forms send it for what was left blank.
 */
export const optionalText = (description: string) =>
  Type.Optional(Nullable(Type.String({ maxLength: STRING_LENGTH_LIMIT }), description));

/** An empty text counts as null. */
export function textOrNull<Text extends string | null | undefined>(text: Text): Text | null {
  return text === '' ? null : text;
}

export const addressFields = {
  line1: optionalText('Street and number.'),
  line2: optionalText('Second line.'),
  city: optionalText('City.'),
  state: optionalText('State or canton.'),
  postal_code: optionalText('Postal code.'),
  country: Type.Optional(
    Nullable(
      Type.String({
        pattern: '^([A-Za-z]{2})?$',
        [EXPECTED_ANNOTATION]: 'an ISO 3166-1 code of two letters, such as CH',
      }),
      'ISO 3166-1 alpha-2 code.',
    ),
  ),
};

export const AddressInput = Type.Object(addressFields, { $id: 'AddressInput', description: 'A postal address.' });
export type AddressInput = Static<typeof AddressInput>;

export const METADATA_SIZE = `at most ${METADATA_LIMIT_BYTES.toLocaleString('en-US')} bytes`;

/** Checked here for its type; its size is checked on its compact JSON. */
export const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: `Your own data: an object of ${METADATA_SIZE} as compact JSON.`,
});

export const identityFields = {
  external_id: optionalText('Your own id of the customer.'),
  email: Type.Optional(
    Nullable(
      Type.String({
        maxLength: STRING_LENGTH_LIMIT,
        pattern: '^([^\\s@]+@[^\\s@]+)?$',
        [EXPECTED_ANNOTATION]: 'an email address, such as ana@example.com',
      }),
      'Compared without regard to case.',
    ),
  ),
  phone: optionalText('Any usual notation; without a country code the dealer’s country is assumed. Kept as E.164.'),
  first_name: optionalText('First name.'),
  last_name: optionalText('Last name.'),
};

export const CustomerInput = Type.Object(
  {
    ...identityFields,
    company: optionalText('Company.'),
    address: Type.Optional(Nullable(AddressInput, 'Postal address.')),
    metadata: Type.Optional(Nullable(Metadata, 'Accepted and checked, not stored.')),
  },
  {
    $id: 'CustomerInput',
    description:
      'At least one of `external_id`, `email` and `phone` is needed. A field that is absent keeps its value; null or an empty text clears it.',
    // Such a body is refused: all three are absent, null or empty.
    [NOT_ANNOTATION]: {
      properties: { external_id: { enum: [null, ''] }, email: { enum: [null, ''] }, phone: { enum: [null, ''] } },
    },
  },
);
export type CustomerInput = Static<typeof CustomerInput>;

export const BulkInput = Type.Object(
  {
    customers: Type.Array(CustomerInput, {
      minItems: 1,
      maxItems: BULK_RECORDS_LIMIT,
      description: 'The customers, each as in a single upsert.',
    }),
  },
  { $id: 'CustomerBulkInput' },
);

export const Customer = Type.Object(
  {
    id: Type.String({ description: 'Id of the customer.' }),
    object: Type.Literal('customer'),
    is_test: Type.Boolean({ description: 'Made while the integration was in test mode.' }),
    external_id: Nullable(Type.String(), 'Your own id.'),
    email: Nullable(Type.String(), 'Email.'),
    phone: Nullable(Type.String(), 'E.164.'),
    first_name: Nullable(Type.String(), 'First name.'),
    last_name: Nullable(Type.String(), 'Last name.'),
    company: Nullable(Type.String(), 'Company.'),
    address: Nullable(Address, 'Postal address.'),
    created_at: TimestampOf('When the dealer came to know them.'),
    updated_at: TimestampOf('When something of them last changed.'),
  },
  { $id: 'Customer', description: 'A customer of the dealer.' },
);
export type Customer = Static<typeof Customer>;

export const BulkResult = Type.Object(
  {
    object: Type.Literal('bulk_result'),
    bulk_result: Type.Object(
      {
        total: Type.Integer({ minimum: 0, description: 'Records of the request.' }),
        created: Type.Integer({ minimum: 0, description: 'Customers that are new.' }),
        updated: Type.Integer({ minimum: 0, description: 'Customers that were known.' }),
      },
      { description: 'How many of each.' },
    ),
    data: Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, description: 'Position in the request.' }),
        id: Type.String({ description: 'Id of the customer.' }),
        external_id: Nullable(Type.String(), 'Your own id.'),
        result: Type.Unsafe<'created' | 'updated'>({
          type: 'string',
          enum: ['created', 'updated'],
          description: 'What the upsert did.',
        }),
      }),
      { description: 'One entry for each record, in the order of the request.' },
    ),
  },
  { $id: 'CustomerBulkResult', description: 'What became of each record, in the order of the request.' },
);
export type BulkResult = Static<typeof BulkResult>;

export const customerInputExample: CustomerInput = {
  external_id: 'c_77',
  email: 'ana@example.ch',
  phone: '+41 22 730 00 00',
  first_name: 'Ana',
  last_name: 'Berger',
};

export const customerExample: Customer = {
  id: 'cus_01h455vb4pex5vsknk084sn02q',
  object: 'customer',
  is_test: false,
  external_id: 'c_77',
  email: 'ana@example.ch',
  phone: '+41227300000',
  first_name: 'Ana',
  last_name: 'Berger',
  company: null,
  address: addressExample,
  created_at: timestampExample,
  updated_at: timestampExample,
};

export const bulkResultExample: BulkResult = {
  object: 'bulk_result',
  bulk_result: { total: 1, created: 1, updated: 0 },
  data: [{ index: 0, id: customerExample.id, external_id: 'c_77', result: 'created' }],
};
