import Type from 'typebox';
import { valuesOf } from '../enumerations.ts';
import { RESERVATION_RETENTION_DAYS } from '../limits.ts';
import { afterParameter, ListOf, limitParameter, listExample, statusParameter } from '../resources/list.ts';
import {
  Reservation,
  ReservationExtendInput,
  ReservationInput,
  ReservationReleaseInput,
  reservationExample,
  reservationInputExample,
} from '../resources/reservation.ts';
import { type Operation, read, write } from './operation.ts';

const reservationIdParameter = Type.Object({
  id: Type.String({ description: 'Id of the reservation.', examples: [reservationExample.id] }),
});

export const reservationOperations = {
  createReservation: write({
    id: 'createReservation',
    path: '/v1/reservations',
    tag: 'Reservations',
    summary: 'Reserve units',
    description:
      'Holds units of a listing or a part while your buyer checks out, so that nobody else can buy them. When the buyer has paid, report the order and name the reservation in the line’s `reservation_id`. In test mode no units are taken, also not from other test reservations; ask for more units than the item’s `quantity` to see `not_available`.',
    cost: 1,
    body: ReservationInput,
    bodyExample: reservationInputExample,
    success: { status: 201, description: 'The reservation.', schema: Reservation, example: reservationExample },
    errors: ['listing_not_found', 'part_not_found', 'not_available', 'too_many_reservations', 'reservation_failed'],
  }),
  listReservations: read({
    id: 'listReservations',
    path: '/v1/reservations',
    tag: 'Reservations',
    summary: 'List reservations',
    description:
      'The integration’s reservations, newest change first, of every status unless `status` says otherwise. One whose time is over may be listed as `active` until the service has ended it, about a second later; compare `expires_at`.',
    query: Type.Object({
      limit: limitParameter,
      after: afterParameter,
      status: statusParameter(valuesOf('reservation_status'), 'every status'),
    }),
    hasEtag: true,
    success: {
      status: 200,
      description: 'A page of reservations.',
      schema: ListOf(Reservation, 'ReservationList'),
      example: listExample(reservationExample),
    },
    errors: ['invalid_cursor', 'query_failed'],
  }),
  getReservation: read({
    id: 'getReservation',
    path: '/v1/reservations/{id}',
    tag: 'Reservations',
    summary: 'Read a reservation',
    description: `One reservation that this integration made. It can be read for ${RESERVATION_RETENTION_DAYS} days after it has ended.`,
    params: reservationIdParameter,
    hasEtag: true,
    success: { status: 200, description: 'The reservation.', schema: Reservation, example: reservationExample },
    errors: ['reservation_not_found', 'query_failed'],
  }),
  releaseReservation: write({
    id: 'releaseReservation',
    path: '/v1/reservations/{id}/release',
    tag: 'Reservations',
    summary: 'Release a reservation',
    description:
      'Gives the units back, as when the buyer leaves. One that is released or expired already is answered unchanged. The body may be empty.',
    cost: 1,
    params: reservationIdParameter,
    body: ReservationReleaseInput,
    bodyExample: {},
    isBodyOptional: true,
    success: {
      status: 200,
      description: 'The reservation.',
      schema: Reservation,
      example: { ...reservationExample, status: 'released' },
    },
    errors: ['reservation_not_found', 'reservation_not_active', 'reservation_failed'],
  }),
  extendReservation: write({
    id: 'extendReservation',
    path: '/v1/reservations/{id}/extend',
    tag: 'Reservations',
    summary: 'Extend a reservation',
    description:
      'Counts the time of an active reservation anew from now. It ends at most two hours after it was made: a longer `ttl_seconds` is cut to that, and the answer’s `expires_at` says when it ends.',
    cost: 1,
    params: reservationIdParameter,
    body: ReservationExtendInput,
    bodyExample: { ttl_seconds: 600 },
    success: {
      status: 200,
      description: 'The reservation.',
      schema: Reservation,
      example: { ...reservationExample, expires_at: '2026-05-08T09:20:00.123Z' },
    },
    errors: ['reservation_not_found', 'reservation_not_active', 'reservation_failed'],
  }),
} as const satisfies Record<string, Operation>;
