import Type, { type Static, type TSchema } from 'typebox';
import { type Enumeration, type ValueOf, valuesOf } from '../enumerations.ts';

export const timestampExample = '2026-05-08T09:00:00.123Z';

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'UTC with milliseconds.',
});

/** A timestamp with a description of what happened then. */
export function TimestampOf(description: string) {
  return Type.String({ format: 'date-time', description });
}

export function Nullable<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** One value of an enumeration. */
export function OneOf<Name extends Enumeration>(name: Name, description: string) {
  return Type.Unsafe<ValueOf<Name>>({ type: 'string', enum: valuesOf(name), description });
}

/** Several values of an enumeration. */
export function ManyOf<Name extends Enumeration>(name: Name, description: string) {
  return Type.Unsafe<ValueOf<Name>[]>({ type: 'array', items: { type: 'string', enum: valuesOf(name) }, description });
}

/** The code of a currency in an answer. */
export function CurrencyCode(description: string) {
  return Type.String({ pattern: '^[A-Z]{3}$', description });
}

/** English texts by the names of enumerated fields; null where the field is null. */
export function Labels(description: string) {
  return Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()]), {
    description,
  });
}

/** For a request that names one item: what it must not be. An empty text counts as null. */
export const NAMES_NO_ITEM = {
  properties: { listing_id: { enum: [null, ''] }, part_id: { enum: [null, ''] } },
};
export const NAMES_TWO_ITEMS = {
  required: ['listing_id', 'part_id'],
  properties: { listing_id: { type: 'string', minLength: 1 }, part_id: { type: 'string', minLength: 1 } },
};

export const Price = Type.Object(
  {
    amount: Type.Integer({ minimum: 0, description: 'In minor units of the currency (cents; JPY has none).' }),
    amount_formatted: Type.String({ description: 'For display, in en-US.' }),
    currency: CurrencyCode('ISO 4217 code.'),
  },
  { $id: 'Price', description: 'A price in the integration’s currency, with its markup and rounding applied.' },
);
export type Price = Static<typeof Price>;

export const Promotion = Type.Object(
  {
    regular_amount: Type.Integer({
      minimum: 0,
      description: 'The regular price that the promotion replaces, in minor units.',
    }),
    regular_amount_formatted: Type.String({ description: 'The same for display, in en-US.' }),
    ends_at: Nullable(Timestamp, 'When it ends by itself; null while no end is set.'),
  },
  {
    $id: 'Promotion',
    description:
      'A promotion that is running now: `price` is the promotional price, and this tells the regular one that it replaces.',
  },
);
export type Promotion = Static<typeof Promotion>;

export const Photo = Type.Object(
  {
    id: Type.String({ description: 'Id of the photo; another picture has another one.' }),
    position: Type.Integer({ minimum: 1, description: 'Photos stand in this order; 1 is the main one.' }),
    url: Type.String({
      format: 'uri',
      description: 'The whole picture, in the integration’s image format. Needs no key.',
    }),
    thumbnail_url: Type.String({ format: 'uri', description: 'A square cut of it.' }),
    width: Type.Integer({ minimum: 1, description: 'Width of the whole picture, in pixels.' }),
    height: Type.Integer({ minimum: 1, description: 'Height of the whole picture, in pixels.' }),
  },
  { $id: 'Photo', description: 'A photo of the item.' },
);
export type Photo = Static<typeof Photo>;

export const Address = Type.Object(
  {
    line1: Nullable(Type.String(), 'Street and number.'),
    line2: Nullable(Type.String(), 'Second line.'),
    city: Nullable(Type.String(), 'City.'),
    state: Nullable(Type.String(), 'State or canton.'),
    postal_code: Nullable(Type.String(), 'Postal code.'),
    country: Nullable(Type.String(), 'ISO 3166-1 alpha-2 code.'),
  },
  { $id: 'Address', description: 'A postal address.' },
);
export type Address = Static<typeof Address>;

export const Location = Type.Object(
  {
    business_unit: Type.String({ description: 'The business unit it belongs to.' }),
    name: Type.String({ description: 'The place within it.' }),
  },
  { $id: 'Location', description: 'Where the item lies.' },
);

export const DealerProfile = Type.Object(
  { name: Type.String({ description: 'Name of the dealer.' }), address: Address },
  { $id: 'Dealer', description: 'The dealer who sells the item.' },
);

/** The description of `updated_at`, which is the same in every resource. */
export const UPDATED_AT =
  'When something of this was last changed. Every change has a later one than all that could be read before it, so `updated_after` misses none.';

/** The fields that a listing and a part share, in the order in which documents are written. */
export const commonItemFields = {
  quantity: Type.Integer({
    minimum: 0,
    description: 'Units that can be bought now; those that orders hold are not among them.',
  }),
  stock_number: Type.String({ description: 'The dealer’s own number for it.' }),
  price: Nullable(
    Price,
    'What it costs now, with the integration’s markup and rounding: the promotional price while a promotion runs, else the regular one. Null means price on request.',
  ),
  promotion: Nullable(
    Promotion,
    'The promotion that runs now, null when none does. While it runs, `price` is the promotional price and this tells the regular one that it replaces.',
  ),
  description: Type.String({ description: 'Paragraphs are separated by a blank line.' }),
  description_paragraphs: Type.Array(Type.String(), { description: 'The same text, a paragraph each.' }),
  photos: Type.Array(Photo, { description: 'In the order in which the dealer wants them shown.' }),
};

export const commonItemTail = {
  location: Nullable(Location, 'Null when the dealer set none.'),
  dealer: DealerProfile,
  published_at: TimestampOf('When it was last put on the channel.'),
  created_at: TimestampOf('When the dealer took it into stock.'),
  updated_at: TimestampOf(UPDATED_AT),
};
