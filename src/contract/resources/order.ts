import Type, { type Static } from 'typebox';
import {
  AMOUNT_LIMIT,
  CHANNEL_ORDER_ID_LENGTH_LIMIT,
  LINE_QUANTITY_LIMIT,
  ORDER_LINES_LIMIT,
  STRING_LENGTH_LIMIT,
} from '../limits.ts';
import { EXPECTED_ANNOTATION, NOT_ANNOTATION } from '../openapi/openapi-schemas.ts';
import { TIMESTAMP_PATTERN } from '../timestamps.ts';
import {
  CurrencyCode,
  NAMES_TWO_ITEMS,
  Nullable,
  OneOf,
  Timestamp,
  TimestampOf,
  timestampExample,
  UPDATED_AT,
} from './common.ts';
import { addressFields, identityFields, METADATA_SIZE, Metadata, optionalText } from './customer.ts';

const Amount = Type.Integer({ minimum: 0, maximum: AMOUNT_LIMIT });
const optionalAmount = (description: string) => Type.Optional(Nullable(Amount, `${description} In minor units.`));

const OrderLineInput = Type.Object(
  {
    listing_id: optionalText('The listing that was bought.'),
    part_id: optionalText('The part that was bought. A line names a listing or a part, or neither, never both.'),
    quantity: Type.Optional(
      Nullable(Type.Integer({ minimum: 1, maximum: LINE_QUANTITY_LIMIT }), 'Units; 1 if it is left out.'),
    ),
    reservation_id: optionalText(
      'The reservation whose units the line takes. Ignored if it is not yours, is of another item, or is of the other mode (test or live).',
    ),
    unit_amount: optionalAmount('Price of one unit.'),
    discount_amount: optionalAmount('Discount on the whole line.'),
    title: optionalText('What the customer saw.'),
  },
  { $id: 'OrderLineInput', [NOT_ANNOTATION]: NAMES_TWO_ITEMS },
);

const OrderCustomer = Type.Object(
  {
    ...identityFields,
    phone: optionalText('Any usual notation. One that is no possible number is kept as it is, and identifies nobody.'),
  },
  { $id: 'OrderCustomerInput', description: 'Who bought it.' },
);

const OrderAddressInput = Type.Object(
  { name: optionalText('Recipient.'), ...addressFields },
  { $id: 'OrderAddressInput', description: 'A postal address with its recipient.' },
);

export const OrderInput = Type.Object(
  {
    channel_order_id: Type.String({
      minLength: 1,
      maxLength: CHANNEL_ORDER_ID_LENGTH_LIMIT,
      description: 'Your own id of the order, unique for the integration.',
    }),
    currency: Type.Optional(
      Nullable(
        Type.String({
          pattern: '^([A-Z]{3})?$',
          [EXPECTED_ANNOTATION]: 'an ISO 4217 code of three capital letters, such as USD',
        }),
        'ISO 4217 code; the integration’s currency if it is left out.',
      ),
    ),
    placed_at: Type.Optional(
      Nullable(
        Type.String({
          maxLength: STRING_LENGTH_LIMIT,
          pattern: `^(${TIMESTAMP_PATTERN})?$`,
          [EXPECTED_ANNOTATION]: 'an ISO 8601 time such as 2026-05-08T09:00:00Z, or a date',
        }),
        'When the order was placed: a time with any offset, or a plain date. Without an offset it is UTC.',
      ),
    ),
    customer: Type.Optional(Nullable(OrderCustomer, 'Who bought it.')),
    shipping_address: Type.Optional(Nullable(OrderAddressInput, 'Where it goes.')),
    billing_address: Type.Optional(Nullable(OrderAddressInput, 'Who pays.')),
    lines: Type.Optional(
      Nullable(
        Type.Array(OrderLineInput, { maxItems: ORDER_LINES_LIMIT }),
        'What was bought; the dealer can match an order without lines by hand.',
      ),
    ),
    shipping_amount: optionalAmount('Shipping.'),
    discount_amount: optionalAmount('Discount on the whole order.'),
    tax_amount: optionalAmount('Tax on top.'),
    metadata: Type.Optional(
      Nullable(Metadata, `Your own data, ${METADATA_SIZE}. Numbers keep 15 digits: send longer ids as text.`),
    ),
  },
  {
    $id: 'OrderInput',
    description:
      'An order that was taken on your site. For a field that may be left out, null and an empty text mean so.',
  },
);
export type OrderInput = Static<typeof OrderInput>;

export const CancelInput = Type.Object(
  { reason: optionalText('Why; shown to the dealer.') },
  { $id: 'OrderCancelInput' },
);
export type CancelInput = Static<typeof CancelInput>;

const OrderAddress = Type.Object(
  {
    name: Nullable(Type.String(), 'Recipient.'),
    line1: Nullable(Type.String(), 'Street and number.'),
    line2: Nullable(Type.String(), 'Second line.'),
    city: Nullable(Type.String(), 'City.'),
    state: Nullable(Type.String(), 'State or canton.'),
    postal_code: Nullable(Type.String(), 'Postal code.'),
    country: Nullable(Type.String(), 'ISO 3166-1 alpha-2 code.'),
  },
  { $id: 'OrderAddress' },
);
export type OrderAddress = Static<typeof OrderAddress>;

const OrderMatch = Type.Object(
  {
    object: Type.Unsafe<'listing' | 'part'>({
      type: 'string',
      enum: ['listing', 'part'],
      description: 'What kind of item it is.',
    }),
    id: Type.String({ description: 'Id of the item.' }),
    remaining_quantity: Type.Integer({ minimum: 0, description: 'Units left to sell when the line was matched.' }),
  },
  { $id: 'OrderMatch', description: 'The item in the dealer’s stock that the line was matched to.' },
);

const OrderLine = Type.Object(
  {
    id: Type.String({ description: 'Id of the line.' }),
    listing_id: Nullable(Type.String(), 'As reported.'),
    part_id: Nullable(Type.String(), 'As reported.'),
    quantity: Type.Integer({ minimum: 1, description: 'Units, as reported.' }),
    reservation_id: Type.Optional(Type.String({ description: 'As reported; absent if the line named none.' })),
    unit_amount: Nullable(Type.Integer(), 'As reported.'),
    discount_amount: Nullable(Type.Integer(), 'As reported.'),
    title: Nullable(Type.String(), 'As reported.'),
    match: Nullable(OrderMatch, 'Null while the line is matched to nothing.'),
  },
  { $id: 'OrderLine' },
);

export const Order = Type.Object(
  {
    id: Type.String({ description: 'Id of the order.' }),
    object: Type.Literal('order'),
    status: OneOf(
      'order_status',
      'Where the order stands: `received` from you, `matched` to a sale that the dealer completed, `fulfilled` by the dealer, or `cancelled`. A sale that the dealer cancels takes it back to `received`.',
    ),
    is_test: Type.Boolean({ description: 'Reported while the integration was in test mode; it touches no stock.' }),
    channel_order_id: Type.String({ description: 'Your own id of the order, as reported.' }),
    currency: CurrencyCode('ISO 4217 code of all its amounts.'),
    placed_at: Nullable(Timestamp, 'As reported.'),
    customer: Nullable(
      Type.Object(
        {
          external_id: Nullable(Type.String(), 'As reported.'),
          email: Nullable(Type.String(), 'As reported.'),
          phone: Nullable(Type.String(), 'As reported; in E.164 if it is a possible number.'),
          first_name: Nullable(Type.String(), 'As reported.'),
          last_name: Nullable(Type.String(), 'As reported.'),
        },
        { $id: 'OrderCustomer' },
      ),
      'Who bought it, as reported.',
    ),
    customer_id: Nullable(Type.String(), 'The dealer’s customer; null if none was given or it conflicts with others.'),
    shipping_address: Nullable(OrderAddress, 'As reported.'),
    billing_address: Nullable(OrderAddress, 'As reported.'),
    lines: Type.Array(OrderLine, { description: 'What was bought.' }),
    shipping_amount: Nullable(Type.Integer(), 'As reported.'),
    discount_amount: Nullable(Type.Integer(), 'As reported.'),
    tax_amount: Nullable(Type.Integer(), 'As reported.'),
    subtotal_amount: Nullable(Type.Integer(), 'Sum of unit amounts times quantities; null if a line has none.'),
    total_amount: Nullable(
      Type.Integer(),
      'Subtotal less discounts, plus shipping and tax; negative if the discounts are larger; null with the subtotal.',
    ),
    metadata: Nullable(Type.Record(Type.String(), Type.Unknown()), 'As reported.'),
    fulfilled_at: Nullable(Timestamp, 'When the dealer fulfilled it.'),
    cancelled_at: Nullable(Timestamp, 'When it was cancelled.'),
    cancellation: Nullable(
      Type.Object(
        {
          by: Type.Unsafe<'api' | 'dealer'>({
            type: 'string',
            enum: ['api', 'dealer'],
            description: 'You, through the API, or the dealer.',
          }),
          reason: Nullable(Type.String(), 'Why, if it was said.'),
        },
        { $id: 'OrderCancellation' },
      ),
      'Who cancelled it and why.',
    ),
    created_at: TimestampOf('When it was reported.'),
    updated_at: TimestampOf(UPDATED_AT),
  },
  { $id: 'Order', description: 'An order that was reported by the client.' },
);
export type Order = Static<typeof Order>;

export const orderInputExample: OrderInput = {
  channel_order_id: 'SO-1001',
  currency: 'USD',
  placed_at: '2026-05-08T09:00:00Z',
  customer: {
    external_id: 'c_77',
    email: 'ana@example.ch',
    phone: '+41 22 730 00 00',
    first_name: 'Ana',
    last_name: 'Berger',
  },
  shipping_address: { name: 'Ana Berger', line1: 'Rue du Lac 1', city: 'Geneva', postal_code: '1201', country: 'CH' },
  lines: [
    {
      listing_id: 'lst_01h455vb4pex5vsknk084sn02q',
      quantity: 1,
      unit_amount: 1199000,
      discount_amount: 50000,
      title: 'Submariner',
    },
  ],
  shipping_amount: 2500,
  discount_amount: 0,
  tax_amount: 0,
  metadata: { cart: '9' },
};

export const orderExample: Order = {
  id: 'ord_01h455vb4pex5vsknk084sn02q',
  object: 'order',
  status: 'received',
  is_test: false,
  channel_order_id: 'SO-1001',
  currency: 'USD',
  placed_at: '2026-05-08T09:00:00.000Z',
  customer: {
    external_id: 'c_77',
    email: 'ana@example.ch',
    phone: '+41227300000',
    first_name: 'Ana',
    last_name: 'Berger',
  },
  customer_id: 'cus_01h455vb4pex5vsknk084sn02q',
  shipping_address: {
    name: 'Ana Berger',
    line1: 'Rue du Lac 1',
    line2: null,
    city: 'Geneva',
    state: null,
    postal_code: '1201',
    country: 'CH',
  },
  billing_address: null,
  lines: [
    {
      id: 'oln_01h455vb4pex5vsknk084sn02q',
      listing_id: 'lst_01h455vb4pex5vsknk084sn02q',
      part_id: null,
      quantity: 1,
      unit_amount: 1199000,
      discount_amount: 50000,
      title: 'Submariner',
      match: { object: 'listing', id: 'lst_01h455vb4pex5vsknk084sn02q', remaining_quantity: 0 },
    },
  ],
  shipping_amount: 2500,
  discount_amount: 0,
  tax_amount: 0,
  subtotal_amount: 1199000,
  total_amount: 1151500,
  metadata: { cart: '9' },
  fulfilled_at: null,
  cancelled_at: null,
  cancellation: null,
  created_at: timestampExample,
  updated_at: timestampExample,
};
