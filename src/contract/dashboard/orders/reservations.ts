import Type, { type Static } from 'typebox';
import { operation } from '../operation.ts';

const Time = Type.String({ format: 'date-time' });

const ItemReservation = Type.Object(
  {
    id: Type.String(),
    integration_id: Type.String(),
    channel: Type.String({ description: 'The name of the integration.' }),
    units: Type.Integer(),
    reference: Type.Union([Type.String(), Type.Null()], { description: 'The site’s own name for it.' }),
    created_at: Time,
    expires_at: Time,
  },
  { $id: 'ItemReservation' },
);
export type ItemReservation = Static<typeof ItemReservation>;

export const reservationOperations = {
  listItemReservations: operation({
    method: 'GET',
    path: '/items/{item_id}/reservations',
    access: 'staff',
    description: 'The reservations of sites that hold units of an item now, those that end first in front.',
    params: Type.Object({ item_id: Type.String() }),
    response: Type.Object({ data: Type.Array(ItemReservation) }),
  }),
  releaseItemReservation: operation({
    method: 'POST',
    path: '/items/{item_id}/reservations/{reservation_id}/release',
    access: 'staff',
    overQuota: 'served',
    description: 'Ends a reservation before its time. The site is told by an event that the units are free.',
    params: Type.Object({ item_id: Type.String(), reservation_id: Type.String() }),
    response: null,
  }),
};
