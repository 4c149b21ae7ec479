import Type, { type TSchema } from 'typebox';
import { EVENT_TYPES, type EventType } from '../event-types.ts';
import { CURRENT_VERSION } from '../versions.ts';
import { OneOf, TimestampOf, timestampExample } from './common.ts';
import { Order, orderExample } from './order.ts';
import { Part } from './part.ts';

const envelopeFields = {
  id: Type.String({ description: 'Unique, and the same whenever the event is sent again: de-duplicate on it.' }),
  object: Type.Literal('event'),
};
const envelopeTail = {
  api_version: Type.String({ description: 'The version the integration was pinned to then.' }),
  created_at: TimestampOf(
    'When it happened, by the clock that also stamps `updated_at`: what an event tells has the same time.',
  ),
  livemode: Type.Boolean({ description: 'False if it happened in test mode.' }),
};
const anyFields = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

const ENVELOPE = 'Something that happened on the dealer’s side; the same body that a webhook carries.';

/** The fields that all events have. */
export const EventEnvelope = Type.Object(
  {
    ...envelopeFields,
    type: Type.String({ enum: Object.keys(EVENT_TYPES), description: 'What happened.' }),
    ...envelopeTail,
    data: Type.Object(
      {
        object: anyFields(
          'What it happened to. Of a listing or part only `id` and `object`, with `deleted: true` if it was deleted for ever and `quantity` on `part.in_stock`; an order is whole.',
        ),
        previous_attributes: Type.Optional(
          anyFields(
            'On events that tell a change: the old values of fields that changed. Empty on `listing.updated` and `order.cancelled`, absent on events that are no change.',
          ),
        ),
      },
      { description: 'What the event is about.' },
    ),
  },
  { description: ENVELOPE },
);

const deleted = Type.Optional(
  Type.Boolean({ description: 'True if it was deleted for ever: it can’t be read any more. Else absent.' }),
);
const ListingReference = Type.Object(
  { id: Type.String({ description: 'Id of the listing.' }), object: Type.Literal('listing') },
  { $id: 'ListingReference', description: 'Names a listing; read the rest with `GET /v1/listings/{id}`.' },
);
const RemovedListing = Type.Object(
  { ...ListingReference.properties, deleted },
  { $id: 'RemovedListing', description: 'Names a listing that was taken off the channel.' },
);
const PartReference = Type.Object(
  { id: Type.String({ description: 'Id of the part.' }), object: Type.Literal('part') },
  { $id: 'PartReference', description: 'Names a part; read the rest with `GET /v1/parts/{id}`.' },
);
const RemovedPart = Type.Object(
  { ...PartReference.properties, deleted },
  { $id: 'RemovedPart', description: 'Names a part that was taken off the channel.' },
);
const PartQuantity = Type.Object(
  { ...PartReference.properties, quantity: Type.Integer({ minimum: 1, description: 'Units that can be bought now.' }) },
  { $id: 'PartQuantity', description: 'Names a part and its new quantity.' },
);
const TestedIntegration = Type.Object(
  {
    id: Type.String({ description: 'Id of the integration.' }),
    object: Type.Literal('integration'),
    message: Type.String({ description: 'A text for people.' }),
  },
  { $id: 'TestedIntegration', description: 'The integration that was tested.' },
);
const NothingOld = Type.Object({}, { description: 'Always empty.' });
const { id: _id, object: _object, ...partFields } = Part.properties;
const OldPart = Type.Partial(Type.Object(partFields), {
  $id: 'PartPreviousAttributes',
  description: 'The fields of the part that changed, with their old values.',
});
const OldQuantity = Type.Object(
  { quantity: Type.Integer({ minimum: 0, description: 'Units that could be bought before.' }) },
  { description: 'The old quantity.' },
);
const OldStatus = Type.Object({ status: OneOf('order_status', 'The old status.') }, { description: 'The old status.' });

/** What `data` holds, by type of event; `previous` is null where the event has no `previous_attributes`. */
const DATA: Readonly<Record<EventType, { object: TSchema; previous: TSchema | null }>> = {
  'listing.published': { object: ListingReference, previous: null },
  'listing.updated': { object: ListingReference, previous: NothingOld },
  'listing.unpublished': { object: RemovedListing, previous: null },
  'listing.sold': { object: ListingReference, previous: null },
  'listing.in_stock': { object: ListingReference, previous: null },
  'part.published': { object: PartReference, previous: null },
  'part.updated': { object: PartReference, previous: OldPart },
  'part.unpublished': { object: RemovedPart, previous: null },
  'part.sold_out': { object: PartReference, previous: null },
  'part.in_stock': { object: PartQuantity, previous: OldQuantity },
  'order.fulfilled': { object: Order, previous: OldStatus },
  'order.cancelled': { object: Order, previous: NothingOld },
  'integration.test_event': { object: TestedIntegration, previous: null },
};

const TYPES = Object.keys(EVENT_TYPES) as EventType[];

/** `part.in_stock` is a `PartInStockEvent`. */
export function eventSchemaName(type: EventType): string {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('').replace(/Event$/, '')}Event`;
}

function eventOf(type: EventType) {
  const { object, previous } = DATA[type];
  const data = Type.Object(
    { object, ...(previous === null ? {} : { previous_attributes: previous }) },
    { description: 'What the event is about.' },
  );
  return Type.Object(
    { ...envelopeFields, type: Type.Literal(type), ...envelopeTail, data },
    { $id: eventSchemaName(type), description: EVENT_TYPES[type].when },
  );
}

/** The schema of event types that may be added later, so that a new type does not break a generated client. */
export const OtherEvent = Type.Object(
  {
    ...envelopeFields,
    type: Type.Unsafe<string>({
      type: 'string',
      not: { enum: TYPES },
      description: 'A type that is not in this description: new ones may be added at any time. Answer 2xx to it.',
    }),
    ...envelopeTail,
    data: Type.Object(
      {
        object: anyFields('What it happened to.'),
        previous_attributes: Type.Optional(anyFields('The old values of fields that changed.')),
      },
      { description: 'What the event is about.' },
    ),
  },
  { $id: 'OtherEvent', description: 'An event of a type that was added later.' },
);

const KnownEvent = Type.Unsafe<unknown>({
  $id: 'KnownEvent',
  description: 'An event of a type that is described here; `type` says what `data` holds.',
  oneOf: TYPES.map(eventOf),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(TYPES.map((type) => [type, `#/components/schemas/${eventSchemaName(type)}`])),
  },
});

export const Event = Type.Unsafe<unknown>({ $id: 'Event', description: ENVELOPE, anyOf: [KnownEvent, OtherEvent] });

const EXAMPLE_LISTING = { id: 'lst_01h455vb4pex5vsknk084sn02q', object: 'listing' };
const EXAMPLE_PART = { id: 'prt_01h455vb4pex5vsknk084sn02q', object: 'part' };

export const eventExample = {
  id: 'evt_01h455vb4pex5vsknk084sn02q',
  object: 'event',
  type: 'listing.updated',
  api_version: CURRENT_VERSION,
  created_at: timestampExample,
  livemode: true,
  data: { object: EXAMPLE_LISTING, previous_attributes: {} },
};

/** What `data` may look like, by type of event. */
const DATA_EXAMPLES: Readonly<Record<EventType, object>> = {
  'listing.published': { object: EXAMPLE_LISTING },
  'listing.updated': eventExample.data,
  'listing.unpublished': { object: { ...EXAMPLE_LISTING, deleted: true } },
  'listing.sold': { object: EXAMPLE_LISTING },
  'listing.in_stock': { object: EXAMPLE_LISTING },
  'part.published': { object: EXAMPLE_PART },
  'part.updated': {
    object: EXAMPLE_PART,
    previous_attributes: { price: { amount: 19500, amount_formatted: '$195.00', currency: 'USD' } },
  },
  'part.unpublished': { object: EXAMPLE_PART },
  'part.sold_out': { object: EXAMPLE_PART },
  'part.in_stock': { object: { ...EXAMPLE_PART, quantity: 4 }, previous_attributes: { quantity: 6 } },
  'order.fulfilled': {
    object: { ...orderExample, status: 'fulfilled', fulfilled_at: timestampExample },
    previous_attributes: { status: 'matched' },
  },
  'order.cancelled': {
    object: {
      ...orderExample,
      status: 'cancelled',
      cancelled_at: timestampExample,
      cancellation: { by: 'dealer', reason: null },
    },
    previous_attributes: {},
  },
  'integration.test_event': {
    object: { id: 'int_01h455vb4pex5vsknk084sn02q', object: 'integration', message: 'This is a test event.' },
  },
};

export function eventExampleOf(type: EventType): object {
  return { ...eventExample, type, data: DATA_EXAMPLES[type] };
}
