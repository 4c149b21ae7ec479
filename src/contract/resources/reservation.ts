import Type, { type Static } from 'typebox';
import {
  LINE_QUANTITY_LIMIT,
  RESERVATION_LIFETIME_LIMIT_SECONDS,
  RESERVATION_REFERENCE_LENGTH_LIMIT,
  RESERVATION_TTL_DEFAULT_SECONDS,
  RESERVATION_TTL_MAX_SECONDS,
  RESERVATION_TTL_MIN_SECONDS,
} from '../limits.ts';
import { NOT_ANNOTATION } from '../openapi/openapi-schemas.ts';
import { NAMES_NO_ITEM, NAMES_TWO_ITEMS, Nullable, OneOf, TimestampOf, timestampExample } from './common.ts';
import { optionalText } from './customer.ts';

const Ttl = Type.Integer({ minimum: RESERVATION_TTL_MIN_SECONDS, maximum: RESERVATION_TTL_MAX_SECONDS });

export const ReservationInput = Type.Object(
  {
    listing_id: optionalText('The listing to hold.'),
    part_id: optionalText('The part to hold.'),
    quantity: Type.Optional(
      Nullable(Type.Integer({ minimum: 1, maximum: LINE_QUANTITY_LIMIT }), 'Units; 1 if it is left out.'),
    ),
    ttl_seconds: Type.Optional(
      Nullable(Ttl, `How long the units are held; ${RESERVATION_TTL_DEFAULT_SECONDS} if it is left out.`),
    ),
    reference: Type.Optional(
      Nullable(
        Type.String({ maxLength: RESERVATION_REFERENCE_LENGTH_LIMIT }),
        'Your own name for it, such as the id of the cart. The dealer sees it.',
      ),
    ),
  },
  {
    $id: 'ReservationInput',
    description: 'What to hold, and for how long. Send `listing_id` or `part_id`, not both.',
    [NOT_ANNOTATION]: { anyOf: [NAMES_NO_ITEM, NAMES_TWO_ITEMS] },
  },
);
export type ReservationInput = Static<typeof ReservationInput>;

export const ReservationExtendInput = Type.Object(
  {
    ttl_seconds: Type.Integer({
      minimum: RESERVATION_TTL_MIN_SECONDS,
      maximum: RESERVATION_TTL_MAX_SECONDS,
      description: `How long the units are held from now on. The reservation ends at most ${RESERVATION_LIFETIME_LIMIT_SECONDS / 3600} hours after it was made.`,
    }),
  },
  { $id: 'ReservationExtendInput' },
);
export type ReservationExtendInput = Static<typeof ReservationExtendInput>;

export const ReservationReleaseInput = Type.Object({}, { $id: 'ReservationReleaseInput' });

export const Reservation = Type.Object(
  {
    id: Type.String({ description: 'Id of the reservation. An order’s line names it as `reservation_id`.' }),
    object: Type.Literal('reservation'),
    status: OneOf(
      'reservation_status',
      'Where it stands: `active` while the units are held, `used` when an order took it, `released` by you or by the dealer, or `expired`.',
    ),
    is_test: Type.Boolean({
      description: 'Made while the integration was in test mode; it takes no units from the item.',
    }),
    listing_id: Nullable(Type.String(), 'The listing that is held, if it is one.'),
    part_id: Nullable(Type.String(), 'The part that is held, if it is one.'),
    quantity: Type.Integer({ minimum: 1, description: 'Units.' }),
    reference: Nullable(Type.String(), 'As you sent it.'),
    order_id: Nullable(Type.String(), 'The order that took the units; null unless the status is `used`.'),
    expires_at: TimestampOf('When the units are free again, unless an order takes them before.'),
    created_at: TimestampOf('When it was made.'),
    updated_at: TimestampOf('When it was last changed.'),
  },
  { $id: 'Reservation', description: 'Units of a listing or a part that are held for the time of a checkout.' },
);
export type Reservation = Static<typeof Reservation>;

export const reservationInputExample: ReservationInput = {
  listing_id: 'lst_01h455vb4pex5vsknk084sn02q',
  quantity: 1,
  ttl_seconds: 900,
  reference: 'cart-9',
};

export const reservationExample: Reservation = {
  id: 'rsv_01h455vb4pex5vsknk084sn02q',
  object: 'reservation',
  status: 'active',
  is_test: false,
  listing_id: 'lst_01h455vb4pex5vsknk084sn02q',
  part_id: null,
  quantity: 1,
  reference: 'cart-9',
  order_id: null,
  expires_at: '2026-05-08T09:15:00.123Z',
  created_at: timestampExample,
  updated_at: timestampExample,
};
