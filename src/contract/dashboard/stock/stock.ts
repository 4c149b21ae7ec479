import Type from 'typebox';
import { Count, listOf, listQuery } from '../list.ts';
import { operation } from '../operation.ts';
import { AuditId } from '../organization/audit.ts';
import { NamedLocation } from '../schema-parts.ts';

/** Whether units are free to sell, all held back, or none left. */
export const STOCK_STATUS_LABELS = { in_stock: 'In stock', reserved: 'Reserved', sold: 'Sold' } as const;
export type StockStatus = keyof typeof STOCK_STATUS_LABELS;
const STATUSES = Object.keys(STOCK_STATUS_LABELS) as StockStatus[];

/** Columns that a list can be sorted by; with a minus in front, descending. */
export const STOCK_SORTS = [
  '-created',
  'created',
  'price',
  '-price',
  'title',
  '-title',
  'stock_number',
  '-stock_number',
] as const;
export type StockSort = (typeof STOCK_SORTS)[number];

export const Kind = Type.Unsafe<'listing' | 'part'>({ type: 'string', enum: ['listing', 'part'] });
export const StockStatus = Type.Unsafe<StockStatus>({ type: 'string', enum: STATUSES });

export const Money = Type.Object({ amount: Type.Integer(), currency: Type.String() }, { $id: 'Money' });

export const StockItem = Type.Object(
  {
    id: Type.String(),
    kind: Kind,
    stock_number: Type.String(),
    title: Type.String(),
    brand: Type.Union([Type.String(), Type.Null()]),
    reference: Type.Union([Type.String(), Type.Null()], {
      description: 'Reference of a watch, part number of a part.',
    }),
    status: StockStatus,
    is_hidden: Type.Boolean(),
    price: Type.Union([Money, Type.Null()], { description: 'Null is price on request.' }),
    promotion_amount: Type.Union([Type.Integer(), Type.Null()], { description: 'Of the promotion that runs now.' }),
    cost_amount: Type.Union([Type.Integer(), Type.Null()], { description: 'Null also for whoever may not see it.' }),
    units: Type.Integer({ description: 'Owned, those held back included.' }),
    reserved_units: Type.Integer(),
    location: Type.Union([Type.Object({ id: Type.String(), name: Type.String() }), Type.Null()]),
    missing: Type.Array(Type.String(), { description: 'Fields that a buyer would miss.' }),
    photo_url: Type.Union([Type.String(), Type.Null()], {
      description: 'A square cut of the first photo, for a card.',
    }),
    thumbnail_url: Type.Union([Type.String(), Type.Null()], { description: 'The same, small, for a row.' }),
    channels: Type.Array(
      Type.Object({
        integration_id: Type.String(),
        is_on: Type.Boolean(),
        status: Type.Union([Type.String(), Type.Null()], {
          description: 'As the site reads it; null before it could.',
        }),
        price: Type.Union([Money, Type.Null()]),
      }),
      { description: 'The channels that it is or was on.' },
    ),
    created_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'StockItem' },
);

const YesNo = Type.Unsafe<'yes' | 'no'>({ type: 'string', enum: ['yes', 'no'] });
const Amount = Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 });

/** The filters of the list of stock; bulk actions take the same for "all that match". */
export const stockFilters = {
  kind: Kind,
  status: Type.Optional(StockStatus),
  hidden: Type.Optional(YesNo),
  integration_id: Type.Optional(
    Type.String({ maxLength: 50, description: 'On this channel; `none` for on no channel.' }),
  ),
  needs_work: Type.Optional(YesNo),
  brand: Type.Optional(Type.String({ maxLength: 500 })),
  location_id: Type.Optional(Type.String({ maxLength: 50 })),
  price_from: Type.Optional(Amount),
  price_to: Type.Optional(Amount),
};

export const stockOperations = {
  listStock: operation({
    method: 'GET',
    path: '/stock',
    access: 'staff',
    description: 'Watches or parts: searched, filtered and sorted.',
    query: listQuery(stockFilters),
    response: listOf(StockItem),
  }),
  getStockChoices: operation({
    method: 'GET',
    path: '/stock/choices',
    access: 'staff',
    description: 'What the filters of the list offer: brands, locations, channels; and how many items each tab holds.',
    query: Type.Object({ kind: Kind }),
    response: Type.Object({
      currency: Type.String({ description: 'Of the dealer’s prices.' }),
      brands: Type.Array(Type.String()),
      locations: Type.Array(NamedLocation),
      channels: Type.Array(
        Type.Object({
          integration_id: Type.String(),
          name: Type.String(),
          currency: Type.String(),
          is_test_mode: Type.Boolean(),
        }),
      ),
      tabs: Type.Record(Type.String(), Count),
    }),
  }),
  setChannel: operation({
    method: 'PUT',
    path: '/stock/{item_id}/channels/{integration_id}',
    access: 'staff',
    overQuota: 'reserve',
    description: 'Puts an item on a channel or takes it off. The site learns of it by an event.',
    params: Type.Object({ item_id: Type.String(), integration_id: Type.String() }),
    body: Type.Object({ is_on: Type.Boolean() }),
    response: Type.Object({ audit_id: AuditId }),
  }),
};
