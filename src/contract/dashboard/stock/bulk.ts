import Type, { type Static } from 'typebox';
import { AMOUNT_LIMIT } from '../../limits.ts';
import { UNDO_LIMIT_DAYS } from '../limits.ts';
import { listQuery } from '../list.ts';
import { operation } from '../operation.ts';
import { Attempt, StartedJob } from '../schema-parts.ts';
import { stockFilters } from './stock.ts';

/** How many items a request can name one by one. For more, it names a filter. */
const BULK_IDS_LIMIT = 1_000;
/** A price can rise at most tenfold at once. A larger change is probably a typo. */
export const PERCENT_MAX = 900;

/** The bulk actions, with the text of the button. */
export const BULK_ACTIONS = {
  publish: 'Publish',
  unpublish: 'Take off',
  hide: 'Hide',
  show: 'Show',
  change_price: 'Change price',
  set_location: 'Set location',
} as const;
export type BulkAction = keyof typeof BULK_ACTIONS;

const { q, ...filters } = { q: listQuery({}).properties.q, ...stockFilters };

const selection = {
  item_ids: Type.Optional(
    Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: BULK_IDS_LIMIT, uniqueItems: true }),
  ),
  filter: Type.Optional(
    Type.Object({ q, ...filters }, { description: 'All that match, as the list of stock takes its filters.' }),
  ),
};

export const BulkSelection = Type.Object(selection);
export type BulkSelection = Static<typeof BulkSelection>;

const PriceChange = Type.Object({
  basis_points: Type.Optional(
    Type.Integer({ minimum: -10_000, maximum: PERCENT_MAX * 100, description: 'Minus 500 lowers by 5 %.' }),
  ),
  amount: Type.Optional(
    Type.Integer({ minimum: -AMOUNT_LIMIT, maximum: AMOUNT_LIMIT, description: 'Added, in minor units.' }),
  ),
  round_to: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: AMOUNT_LIMIT,
      description: 'The new price is a multiple of this, in minor units. A price above zero is not rounded to zero.',
    }),
  ),
});
export type PriceChange = Static<typeof PriceChange>;

export const bulkOperations = {
  countSelection: operation({
    method: 'POST',
    path: '/stock/bulk/count',
    access: 'staff',
    overQuota: 'served',
    description: 'How many items a bulk change would touch, to be confirmed.',
    body: BulkSelection,
    response: Type.Object({ count: Type.Integer() }),
  }),
  changeStock: operation({
    method: 'POST',
    path: '/stock/bulk',
    access: 'staff',
    description: `Starts a job that changes many items: picked ones, or all that match. It can be undone for ${UNDO_LIMIT_DAYS} days.`,
    body: Type.Object({
      ...selection,
      action: Type.Unsafe<BulkAction>({ type: 'string', enum: Object.keys(BULK_ACTIONS) }),
      integration_id: Type.Optional(Type.String({ maxLength: 50, description: 'For publish and unpublish.' })),
      location_id: Type.Optional(
        Type.Union([Type.String({ maxLength: 50 }), Type.Null()], { description: 'For set_location; null is none.' }),
      ),
      price: Type.Optional(PriceChange),
      attempt: Attempt,
    }),
    response: StartedJob,
  }),
  deleteStock: operation({
    method: 'POST',
    path: '/stock/bulk/delete',
    access: 'owner',
    overQuota: 'reserve',
    description: 'Starts a job that deletes many items for ever. It can be cancelled; it can’t be undone.',
    body: Type.Object({
      ...selection,
      count: Type.Integer({ minimum: 1, description: 'The number that was confirmed. More are refused.' }),
    }),
    response: StartedJob,
  }),
};
