import Type, { type Static } from 'typebox';
import { STRING_LENGTH_LIMIT } from '../limits.ts';
import {
  type Address,
  commonItemFields,
  commonItemTail,
  Labels,
  ManyOf,
  Nullable,
  OneOf,
  timestampExample,
} from './common.ts';

const text = (description: string) =>
  Nullable(Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT }), description);
const measure = (description: string, maximum: number) =>
  Nullable(Type.Number({ exclusiveMinimum: 0, maximum }), description);
const count = (description: string, maximum: number) => Nullable(Type.Integer({ minimum: 0, maximum }), description);

/** A watch's attributes, as the dealer enters them and as the client reads them, save for the tax treatment. */
export const WatchAttributes = Type.Object({
  brand: Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT, description: 'Maker of the watch.' }),
  model: Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT, description: 'The maker’s name for it.' }),
  reference_number: text('The maker’s reference.'),
  year: Nullable(Type.Integer({ minimum: 1500, maximum: 2200 }), 'Year of production.'),
  condition: OneOf('condition', 'Condition of the watch.'),
  gender: Nullable(OneOf('gender', 'Whom it is made for.'), 'Whom it is made for.'),
  has_box: Type.Boolean({ description: 'The original box is there.' }),
  has_papers: Type.Boolean({ description: 'The original papers are there.' }),
  movement: Nullable(OneOf('movement', 'Kind of movement.'), 'Kind of movement.'),
  caliber: text('The movement’s caliber.'),
  complications: ManyOf('complications', 'Functions beyond hours and minutes.'),
  power_reserve_hours: count('Power reserve in hours.', 100_000),
  water_resistance_m: count('Water resistance in metres.', 100_000),
  case_material: Nullable(OneOf('case_material', 'Material of the case.'), 'Material of the case.'),
  case_diameter_mm: measure('Diameter of the case.', 200),
  case_thickness_mm: measure('Thickness of the case.', 100),
  lug_width_mm: measure('Width between the lugs.', 100),
  bezel_material: Nullable(OneOf('bezel_material', 'Material of the bezel.'), 'Material of the bezel.'),
  crystal_type: Nullable(OneOf('crystal_type', 'Kind of crystal.'), 'Kind of crystal.'),
  dial_color: Nullable(OneOf('dial_color', 'Colour of the dial.'), 'Colour of the dial.'),
  dial_numerals: Nullable(OneOf('dial_numerals', 'Numerals on the dial.'), 'Numerals on the dial.'),
  bracelet_material: Nullable(OneOf('bracelet_material', 'Material of the bracelet.'), 'Material of the bracelet.'),
  bracelet_color: Nullable(OneOf('bracelet_color', 'Colour of the bracelet.'), 'Colour of the bracelet.'),
  bracelet_links: count('Links of the bracelet.', 1_000),
  clasp_type: Nullable(OneOf('clasp_type', 'Kind of clasp.'), 'Kind of clasp.'),
  clasp_material: Nullable(OneOf('clasp_material', 'Material of the clasp.'), 'Material of the clasp.'),
  additional_details: ManyOf('additional_details', 'Further details.'),
  handling_time: Nullable(OneOf('handling_time', 'Time until it ships.'), 'Time until it ships.'),
});
export type WatchAttributes = Static<typeof WatchAttributes>;

export const Watch = Type.Object(
  { ...WatchAttributes.properties, tax_treatment: OneOf('tax_treatment', 'How the sale is taxed.') },
  { $id: 'Watch', description: 'The watch itself.' },
);

export const Listing = Type.Object(
  {
    id: Type.String({ description: 'Id of the listing.' }),
    object: Type.Literal('listing'),
    status: OneOf(
      'listing_status',
      'Whether it can be bought: `active` can, `reserved` is held by an order, by a reservation or by the dealer, `sold` is sold, `unpublished` was taken off the channel.',
    ),
    title: Type.String({ description: 'For display.' }),
    ...commonItemFields,
    watch: Watch,
    labels: Labels('English text for every enumerated field of the listing and of `watch`; arrays for arrays.'),
    ...commonItemTail,
  },
  { $id: 'Listing', description: 'A watch that is or was on the channel.' },
);

export const addressExample: Static<typeof Address> = {
  line1: 'Rue du Rhône 14',
  line2: null,
  city: 'Geneva',
  state: null,
  postal_code: '1204',
  country: 'CH',
};

export const listingExample = {
  id: 'lst_01h455vb4pex5vsknk084sn02q',
  object: 'listing',
  status: 'active',
  title: 'Rolex Submariner Date 126610LN',
  quantity: 1,
  stock_number: 'W-1042',
  price: { amount: 1199000, amount_formatted: '$11,990.00', currency: 'USD' },
  promotion: { regular_amount: 1299000, regular_amount_formatted: '$12,990.00', ends_at: null },
  description: 'Full set, bought in Geneva.\n\nServiced this spring.',
  description_paragraphs: ['Full set, bought in Geneva.', 'Serviced this spring.'],
  photos: [
    {
      id: 'pho_01h455vb4pex5vsknk084sn02q',
      position: 1,
      url: 'https://api.example.com/photos/pho_01h455vb4pex5vsknk084sn02q.webp',
      thumbnail_url: 'https://api.example.com/photos/pho_01h455vb4pex5vsknk084sn02q-square.webp',
      width: 2000,
      height: 1500,
    },
  ],
  watch: {
    brand: 'Rolex',
    model: 'Submariner Date',
    reference_number: '126610LN',
    year: 2023,
    condition: 'very_good',
    gender: 'mens',
    has_box: true,
    has_papers: true,
    movement: 'automatic',
    caliber: '3235',
    complications: ['date'],
    power_reserve_hours: 70,
    water_resistance_m: 300,
    case_material: 'steel',
    case_diameter_mm: 41,
    case_thickness_mm: 12.5,
    lug_width_mm: 21,
    bezel_material: 'ceramic',
    crystal_type: 'sapphire',
    dial_color: 'black',
    dial_numerals: 'none',
    bracelet_material: 'steel',
    bracelet_color: 'steel',
    bracelet_links: 12,
    clasp_type: 'fold_clasp',
    clasp_material: 'steel',
    additional_details: ['screw_down_crown'],
    handling_time: '1_3_days',
    tax_treatment: 'margin_scheme',
  },
  labels: {
    status: 'In stock',
    condition: 'Very good',
    gender: 'Men’s',
    movement: 'Automatic',
    complications: ['Date'],
    case_material: 'Steel',
    bezel_material: 'Ceramic',
    crystal_type: 'Sapphire',
    dial_color: 'Black',
    dial_numerals: 'No numerals',
    bracelet_material: 'Steel',
    bracelet_color: 'Steel',
    clasp_type: 'Fold clasp',
    clasp_material: 'Steel',
    additional_details: ['Screw-down crown'],
    handling_time: '1–3 days',
    tax_treatment: 'Margin scheme',
  },
  location: { business_unit: 'Geneva', name: 'Showroom' },
  dealer: { name: 'Aurum & Escapement', address: addressExample },
  published_at: timestampExample,
  created_at: timestampExample,
  updated_at: timestampExample,
};
