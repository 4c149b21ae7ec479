import type { Reservation } from '../resources/reservation.ts';

/**
 * The states of a reservation, as one table: who may do what in which status, and what the reservation becomes. The API,
 * the dealer's operations and the worker ask it; the docs show it.
 */
export type ReservationStatus = Reservation['status'];

export type ReservationOperation = 'create' | 'extend' | 'release' | 'dealer_release' | 'use' | 'expire';

export type ReservationTransition = {
  by: 'client' | 'dealer' | 'service';
  /** The operation, in words for people. */
  label: string;
  /** The statuses in which it can be done; empty for what makes the reservation. */
  from: readonly ReservationStatus[];
  to: ReservationStatus;
  /** The statuses in which it changes nothing and is no error. */
  unchangedIn: readonly ReservationStatus[];
  /** What else happens, in words for people. */
  effect: string;
};

export const RESERVATION_TRANSITIONS: Readonly<Record<ReservationOperation, ReservationTransition>> = {
  create: {
    by: 'client',
    label: 'Reserve units',
    from: [],
    to: 'active',
    unchangedIn: [],
    effect: 'The units are held. Other channels get the event of the change; you do not.',
  },
  extend: {
    by: 'client',
    label: 'Extend the reservation',
    from: ['active'],
    to: 'active',
    unchangedIn: [],
    effect: 'Its time is counted anew from now, up to two hours after it was made.',
  },
  release: {
    by: 'client',
    label: 'Release the reservation',
    from: ['active'],
    to: 'released',
    unchangedIn: ['released', 'expired'],
    effect: 'The units are free again. Other channels get the event; you do not.',
  },
  dealer_release: {
    by: 'dealer',
    label: 'Release the reservation',
    from: ['active'],
    to: 'released',
    unchangedIn: [],
    effect: 'The units are free again. Every channel gets the event, yours too.',
  },
  use: {
    by: 'client',
    label: 'Report an order whose line names it',
    from: ['active', 'expired'],
    to: 'used',
    unchangedIn: [],
    effect: 'The order takes the units. After expiry it takes them if they are still there.',
  },
  expire: {
    by: 'service',
    label: 'The time is over',
    from: ['active'],
    to: 'expired',
    unchangedIn: [],
    effect: 'The units are free again. Every channel gets the event, yours too.',
  },
};

/** What becomes of a reservation: its new status, `unchanged`, or `refused`. */
export function reservationStep(
  operation: ReservationOperation,
  status: ReservationStatus,
): { status: ReservationStatus } | 'unchanged' | 'refused' {
  const { from, to, unchangedIn } = RESERVATION_TRANSITIONS[operation];
  if (from.includes(status)) return { status: to };
  return unchangedIn.includes(status) ? 'unchanged' : 'refused';
}
