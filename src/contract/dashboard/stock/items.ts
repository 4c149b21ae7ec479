import Type, { type Static, type TSchema } from 'typebox';
import {
  AMOUNT_LIMIT,
  DESCRIPTION_LENGTH_LIMIT,
  PHOTO_LIMIT_BYTES,
  PHOTO_PIXELS_LIMIT,
  PHOTO_STORED_PIXELS,
  PHOTOS_PER_ITEM_LIMIT,
  STOCK_NUMBER_LENGTH_LIMIT,
  STRING_LENGTH_LIMIT,
  UNITS_LIMIT,
} from '../../limits.ts';
import { OneOf } from '../../resources/common.ts';
import { WatchAttributes } from '../../resources/listing.ts';
import { PartAttributes } from '../../resources/part.ts';
import { eventOutcome } from '../integrations/events.ts';
import { endpointStop } from '../integrations/integrations.ts';
import { UNDO_LIMIT_DAYS } from '../limits.ts';
import { operation } from '../operation.ts';
import { AuditId } from '../organization/audit.ts';
import { Attempt, NamedLocation, nullable } from '../schema-parts.ts';
import { Kind, StockStatus } from './stock.ts';

const Id = Type.String({ maxLength: 50 });
const Time = Type.String({ format: 'date-time' });
const Amount = Type.Integer({ minimum: 0, maximum: AMOUNT_LIMIT });
const Units = Type.Integer({ minimum: 0, maximum: UNITS_LIMIT });
const SomeUnits = Type.Integer({ minimum: 1, maximum: UNITS_LIMIT });
/**
 * WatchAttributes or PartAttributes of contract/resources, by the kind; the domain checks them and names the field. Only names
 * and lists are said here, so that a large body is read into lists, and not into values of any shape.
 */
const Attributes = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries<AnySchema>({ ...WatchAttributes.properties, ...PartAttributes.properties }).map(([name, schema]) => [
      name,
      listOfAny(schema),
    ]),
  ),
  description: 'As the public API has them: of a watch, or of a part.',
});

type AnySchema = TSchema & { items?: { enum?: unknown[]; properties?: object }; maxItems?: number };

function listOfAny({ items, maxItems = items?.enum?.length }: AnySchema) {
  if (items === undefined) return {};
  const names = Object.keys(items.properties ?? {});
  const item = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) };
  return { type: 'array', maxItems, items: items.properties === undefined ? {} : item };
}

/** What people type. */
const itemFields = {
  stock_number: Type.String({ minLength: 1, maxLength: STOCK_NUMBER_LENGTH_LIMIT }),
  title: Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT }),
  description: Type.String({ maxLength: DESCRIPTION_LENGTH_LIMIT, description: '|| separates paragraphs.' }),
  price_amount: nullable(Amount, 'Minor units of the dealer’s currency; null is price on request.'),
  tax_treatment: nullable(OneOf('tax_treatment', ''), 'Null takes the dealer’s default.'),
  location_id: nullable(Id),
  attributes: Attributes,
};

/** What people type and no client ever reads. */
const privateItemFields = {
  serial_number: nullable(Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT })),
  cost_amount: nullable(Amount, 'Only owners read and write it.'),
  private_notes: Type.String({ maxLength: DESCRIPTION_LENGTH_LIMIT }),
};

/** The steps by which a price is computed. Each step is rounded for display; the last one is what the client reads. */
const PriceSteps = Type.Object(
  {
    from: Type.Object({ amount: Type.Integer(), currency: Type.String() }),
    rate: nullable(Type.String(), 'Null where both currencies are the same, or no rate is known.'),
    converted: nullable(Type.Integer()),
    markup_basis_points: Type.Integer(),
    marked_up: nullable(Type.Integer()),
    rounding: Type.String(),
    price: nullable(Type.Integer(), 'Null if the item can’t be priced on the channel.'),
    currency: Type.String(),
  },
  { $id: 'PriceSteps' },
);

const ItemChannel = Type.Object(
  {
    integration_id: Type.String(),
    name: Type.String(),
    is_test_mode: Type.Boolean(),
    is_on: Type.Boolean(),
    was_on: Type.Boolean({ description: 'It is on the channel, or was before.' }),
    price: nullable(PriceSteps, 'Null is price on request.'),
    promotion_price: nullable(PriceSteps, 'Of the promotion that runs now.'),
    document: nullable(
      Type.Record(Type.String(), Type.Unknown()),
      'What the site reads, or would read if the item were on the channel. Null if those of the channels before it are too long already.',
    ),
    last_event: nullable(
      Type.Object({ id: Type.String(), type: Type.String(), created_at: Time, ...eventOutcome }),
      'The newest event of the item on the channel, also one that was not sent.',
    ),
    stop_reasons: endpointStop.stop_reasons,
  },
  { $id: 'ItemChannel' },
);
export type ItemChannel = Static<typeof ItemChannel>;

const Choices = Type.Object({
  currency: Type.String({ description: 'Of the dealer’s own prices.' }),
  default_tax_treatment: Type.String(),
  locations: Type.Array(NamedLocation),
  brands: Type.Array(Type.String()),
  sees_cost: Type.Boolean(),
});

export const ItemPage = Type.Object(
  {
    id: Type.String(),
    kind: Kind,
    revision: Type.Integer({ description: 'Of what people type. A save names the one that it began from.' }),
    ...itemFields,
    ...privateItemFields,
    units: Type.Integer({ description: 'Owned, those held back included.' }),
    reserved_units: Type.Integer(),
    free_units: Type.Integer({ description: 'That can be sold.' }),
    releasable_units: Type.Integer({ description: 'Reserved by hand, not by orders or sites.' }),
    site_reserved_units: Type.Integer({ description: 'Reserved by sites for a checkout.' }),
    status: StockStatus,
    is_hidden: Type.Boolean(),
    missing: Type.Array(Type.String()),
    created_at: Time,
    edited_at: nullable(Time),
    photos: Type.Array(
      Type.Object({
        id: Type.String(),
        url: Type.String(),
        thumbnail_url: Type.String(),
        width: Type.Integer(),
        height: Type.Integer(),
      }),
    ),
    promotions: Type.Array(
      Type.Object({
        id: Type.String(),
        price_amount: Type.Integer(),
        starts_at: Time,
        ends_at: nullable(Time),
        state: Type.Unsafe<'planned' | 'running' | 'ended'>({ type: 'string', enum: ['planned', 'running', 'ended'] }),
      }),
    ),
    channels: Type.Array(ItemChannel),
    orders: Type.Array(
      Type.Object({
        order_id: Type.String(),
        integration_id: Type.String(),
        channel_order_id: Type.String(),
        units: Type.Integer(),
        created_at: Time,
      }),
      { description: 'That hold units.' },
    ),
    sales: Type.Array(
      Type.Object({
        id: Type.String(),
        units: Type.Integer(),
        is_voided: Type.Boolean(),
        order_id: nullable(Type.String()),
        created_at: Time,
      }),
    ),
    choices: Choices,
  },
  { $id: 'ItemPage' },
);
export type ItemPage = Static<typeof ItemPage>;

export const MOVEMENT_LABELS = {
  reserve: 'Reserve',
  release: 'Release',
  restock: 'Restock',
  return: 'Take back',
  fit: 'Fit to a watch',
  remove: 'Remove',
} as const;
export type ItemMovement = keyof typeof MOVEMENT_LABELS;

const item = Type.Object({ item_id: Type.String() });
const Changed = Type.Object({ audit_id: AuditId });
const promotion = {
  price_amount: Amount,
  starts_at: nullable(Time, 'Null starts it now.'),
  ends_at: nullable(Time, 'Null runs until it is ended.'),
};

export const itemOperations = {
  getItem: operation({
    method: 'GET',
    path: '/items/{item_id}',
    access: 'staff',
    description: 'Everything that the page of a watch or a part shows.',
    params: item,
    response: ItemPage,
  }),
  getItemChoices: operation({
    method: 'GET',
    path: '/item-choices',
    access: 'staff',
    description: 'What the form of a new item offers.',
    query: Type.Object({ kind: Kind }),
    response: Choices,
  }),
  createItem: operation({
    method: 'POST',
    path: '/items',
    access: 'staff',
    description: 'Takes a watch or a part into stock. Nobody can read it until it is put on a channel.',
    body: Type.Object({
      kind: Kind,
      ...itemFields,
      ...Type.Partial(Type.Object(privateItemFields)).properties,
      units: Units,
    }),
    response: Type.Object({ id: Type.String() }),
  }),
  saveItem: operation({
    method: 'PATCH',
    path: '/items/{item_id}',
    access: 'staff',
    description:
      'Saves what was edited: fields that are absent stay, also within the attributes. Refused with `changed_meanwhile` if somebody else has saved since `revision`.',
    params: item,
    body: Type.Object({
      revision: Type.Integer({ minimum: 1 }),
      ...Type.Partial(Type.Object({ ...itemFields, ...privateItemFields, units: Units })).properties,
      units_from: Type.Optional(Type.Integer({ description: 'The free units that `units` was edited from.' })),
    }),
    response: Type.Object({ revision: Type.Integer(), audit_id: AuditId }),
  }),
  previewItem: operation({
    method: 'POST',
    path: '/items/preview',
    access: 'staff',
    overQuota: 'served',
    description: 'What each site would read if this were saved, and how its price comes about. Saves nothing.',
    body: Type.Object({ kind: Kind, preview_of_id: nullable(Id), ...itemFields, units: Units }),
    response: Type.Object({ channels: Type.Array(ItemChannel) }),
  }),
  setItemHidden: operation({
    method: 'PUT',
    path: '/items/{item_id}/hidden',
    access: 'staff',
    overQuota: 'reserve',
    description: 'Hides an item on every channel without touching the toggles, or shows it again.',
    params: item,
    body: Type.Object({ is_hidden: Type.Boolean() }),
    response: Changed,
  }),
  deleteItem: operation({
    method: 'DELETE',
    path: '/items/{item_id}',
    access: 'owner',
    description: 'Deletes an item for ever. There is no undo.',
    params: item,
    response: null,
  }),
  voidItemSale: operation({
    method: 'POST',
    path: '/items/{item_id}/sales/{sale_id}/void',
    access: 'staff',
    overQuota: 'served',
    description: 'Voids a sale: its units return to stock, and its order to the queue.',
    params: Type.Object({ item_id: Type.String(), sale_id: Type.String() }),
    response: null,
  }),
  moveItemUnits: operation({
    method: 'POST',
    path: '/items/{item_id}/movements',
    access: 'staff',
    overQuota: 'reserve',
    description: 'Reserves or releases units by hand, or moves them in or out of stock.',
    params: item,
    body: Type.Object({
      movement: Type.Unsafe<ItemMovement>({ type: 'string', enum: Object.keys(MOVEMENT_LABELS) }),
      units: SomeUnits,
      attempt: Attempt,
    }),
    response: null,
  }),
  startItemPromotion: operation({
    method: 'POST',
    path: '/items/{item_id}/promotions',
    access: 'staff',
    description: 'Plans or starts a promotion. It begins and ends by itself.',
    params: item,
    body: Type.Object(promotion),
    response: Type.Object({ id: Type.String() }),
  }),
  changeItemPromotion: operation({
    method: 'PUT',
    path: '/items/{item_id}/promotions/{promotion_id}',
    access: 'staff',
    description: 'Changes price or times of a promotion.',
    params: Type.Object({ item_id: Type.String(), promotion_id: Type.String() }),
    body: Type.Object(promotion),
    response: null,
  }),
  endItemPromotion: operation({
    method: 'DELETE',
    path: '/items/{item_id}/promotions/{promotion_id}',
    access: 'staff',
    description: 'Ends a promotion now, or cancels one that has not begun.',
    params: Type.Object({ item_id: Type.String(), promotion_id: Type.String() }),
    response: null,
  }),
  addItemPhoto: operation({
    method: 'POST',
    path: '/items/{item_id}/photos',
    access: 'staff',
    description: `Adds a photo behind the others: JPEG, PNG, WebP or AVIF of at most 25 MB and ${PHOTO_PIXELS_LIMIT / 1_000_000} megapixels, scaled down to ${PHOTO_STORED_PIXELS / 1_000_000} if it has more; an item has at most ${PHOTOS_PER_ITEM_LIMIT}.`,
    params: item,
    isUpload: true,
    bodyLimitBytes: PHOTO_LIMIT_BYTES,
    response: Type.Object({ id: Type.String() }),
  }),
  orderItemPhotos: operation({
    method: 'PUT',
    path: '/items/{item_id}/photos',
    access: 'staff',
    description: 'Puts the photos in another order: the ids of all of them, the main one first.',
    params: item,
    body: Type.Object({ photo_ids: Type.Array(Id, { maxItems: PHOTOS_PER_ITEM_LIMIT }) }),
    response: Changed,
  }),
  rotateItemPhoto: operation({
    method: 'POST',
    path: '/items/{item_id}/photos/{photo_id}/rotate',
    access: 'staff',
    waitsElsewhere: true,
    description: 'Turns a photo by a quarter to the right. The turned photo has another id.',
    params: Type.Object({ item_id: Type.String(), photo_id: Type.String() }),
    response: Type.Object({ id: Type.String() }),
  }),
  removeItemPhoto: operation({
    method: 'DELETE',
    path: '/items/{item_id}/photos/{photo_id}',
    access: 'staff',
    description: `Takes a photo away. It can be put back for ${UNDO_LIMIT_DAYS} days.`,
    params: Type.Object({ item_id: Type.String(), photo_id: Type.String() }),
    response: Changed,
  }),
  restoreItemPhoto: operation({
    method: 'POST',
    path: '/items/{item_id}/photos/{photo_id}/restore',
    access: 'staff',
    description: 'Puts a photo back that was taken away.',
    params: Type.Object({ item_id: Type.String(), photo_id: Type.String() }),
    response: null,
  }),
};
