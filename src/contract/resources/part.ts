import Type, { type Static } from 'typebox';
import { STRING_LENGTH_LIMIT } from '../limits.ts';
import { commonItemFields, commonItemTail, Labels, Nullable, OneOf, timestampExample } from './common.ts';
import { addressExample } from './listing.ts';

const name = (description: string) =>
  Nullable(Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT }), description);

export const Compatibility = Type.Object(
  {
    brand: name('Brand of the watches it fits; null fits any.'),
    model: name('Model of the watches it fits.'),
    reference_number: name('Reference of the watches it fits.'),
    caliber: name('Caliber of the movements it fits.'),
  },
  { $id: 'Compatibility', description: 'Watches or movements that the part fits.' },
);

/** A part's attributes, as the dealer enters them and as the client reads them. */
export const PartAttributes = Type.Object({
  part_number: name('The maker’s part number.'),
  category: OneOf('part_category', 'Kind of part.'),
  brand: name('Maker of the part.'),
  condition: OneOf('condition', 'Condition of the part.'),
  compatibility: Type.Array(Compatibility, { maxItems: 200, description: 'What the part fits.' }),
});
export type PartAttributes = Static<typeof PartAttributes>;

export const Part = Type.Object(
  {
    id: Type.String({ description: 'Id of the part.' }),
    object: Type.Literal('part'),
    status: OneOf(
      'part_status',
      'Whether it can be bought: `active` can, `sold_out` has no units left, `unpublished` is hidden by the dealer for now.',
    ),
    title: Type.String({ description: 'For display.' }),
    ...commonItemFields,
    ...PartAttributes.properties,
    tax_treatment: OneOf('tax_treatment', 'How the sale is taxed.'),
    labels: Labels('English text for every enumerated field of the part.'),
    ...commonItemTail,
  },
  { $id: 'Part', description: 'A spare part on the channel.' },
);

export const partExample = {
  id: 'prt_01h455vb4pex5vsknk084sn02q',
  object: 'part',
  status: 'active',
  title: 'Rolex Triplock crown 24-703',
  quantity: 6,
  stock_number: 'P-0311',
  price: { amount: 18500, amount_formatted: '$185.00', currency: 'USD' },
  promotion: null,
  description: 'Genuine, new old stock.',
  description_paragraphs: ['Genuine, new old stock.'],
  photos: [],
  part_number: '24-703-0',
  category: 'crown',
  brand: 'Rolex',
  condition: 'unworn',
  compatibility: [{ brand: 'Rolex', model: 'Submariner', reference_number: '16610', caliber: '3135' }],
  tax_treatment: 'vat_included',
  labels: { status: 'In stock', category: 'Crown', condition: 'Unworn', tax_treatment: 'VAT included' },
  location: { business_unit: 'Geneva', name: 'Workshop' },
  dealer: { name: 'Aurum & Escapement', address: addressExample },
  published_at: timestampExample,
  created_at: timestampExample,
  updated_at: timestampExample,
};
