import Type, { type Static, type TSchema } from 'typebox';
import { type Enumeration, type ValueOf, valuesOf } from '../catalogue.ts';

export const timestampExample = '2026-05-08T09:00:00.123Z';

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'UTC with milliseconds.',
});

export function Nullable<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** One value of the catalogue. */
export function OneOf<Name extends Enumeration>(name: Name, description: string) {
  return Type.Unsafe<ValueOf<Name>>({ type: 'string', enum: valuesOf(name), description });
}

/** Several values of the catalogue. */
export function ManyOf<Name extends Enumeration>(name: Name, description: string) {
  return Type.Unsafe<ValueOf<Name>[]>({ type: 'array', items: { type: 'string', enum: valuesOf(name) }, description });
}

export const Price = Type.Object(
  {
    amount: Type.Integer({ minimum: 0, description: 'In minor units of the currency (cents; JPY has none).' }),
    amount_formatted: Type.String({ description: 'For display, in en-US.' }),
    currency: Type.String({ description: 'ISO 4217 code.' }),
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
    regular_amount_formatted: Type.String(),
    ends_at: Nullable(Timestamp, 'When it ends; null while no end is set.'),
  },
  { $id: 'Promotion', description: 'A promotion that is running now; `price` is the promotional price.' },
);
export type Promotion = Static<typeof Promotion>;

export const Photo = Type.Object(
  {
    id: Type.String(),
    position: Type.Integer({ minimum: 1, description: 'Photos stand in this order; 1 is the main one.' }),
    url: Type.String({ format: 'uri', description: 'In the integration’s image format.' }),
    thumbnail_url: Type.String({ format: 'uri', description: 'Square.' }),
    width: Type.Integer({ minimum: 1 }),
    height: Type.Integer({ minimum: 1 }),
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
  { business_unit: Type.String(), name: Type.String() },
  { $id: 'Location', description: 'Where the item lies.' },
);

export const DealerProfile = Type.Object(
  { name: Type.String(), address: Address },
  { $id: 'Dealer', description: 'The dealer who sells the item.' },
);

/** The fields that a listing and a part share, in the order in which documents are written. */
export const commonItemFields = {
  quantity: Type.Integer({ minimum: 0, description: 'Units available.' }),
  stock_number: Type.String(),
  price: Nullable(Price, 'The price; null means price on request.'),
  promotion: Nullable(Promotion, 'Null when none is running.'),
  description: Type.String({ description: 'Paragraphs are separated by a blank line.' }),
  description_paragraphs: Type.Array(Type.String()),
  photos: Type.Array(Photo),
};

export const commonItemTail = {
  location: Nullable(Location, 'Null when the dealer set none.'),
  dealer: DealerProfile,
  published_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
};
