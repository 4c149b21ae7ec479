import { DomainError } from '../../contract/domain-error.ts';
import { RESERVATION_TTL_DEFAULT_SECONDS } from '../../contract/limits.ts';
import { textOrNull } from '../../contract/resources/customer.ts';
import type { ReservationInput } from '../../contract/resources/reservation.ts';

/** What a client wants to hold, checked. */
export type ReservationDraft = {
  kind: 'listing' | 'part';
  itemId: string;
  units: number;
  ttlSeconds: number;
  reference: string | null;
};

/** Checks what a schema can't: a reservation names one item. */
export function draftReservation(input: ReservationInput): ReservationDraft {
  const listingId = textOrNull(input.listing_id) ?? null;
  const partId = textOrNull(input.part_id) ?? null;
  if (listingId !== null && partId !== null) {
    throw new DomainError('invalid_input', 'Send listing_id or part_id, not both.', 'part_id');
  }
  const itemId = listingId ?? partId;
  if (itemId === null) {
    throw new DomainError('invalid_input', 'Name the listing_id or the part_id to reserve.', 'listing_id');
  }
  return {
    kind: listingId === null ? 'part' : 'listing',
    itemId,
    units: input.quantity ?? 1,
    ttlSeconds: input.ttl_seconds ?? RESERVATION_TTL_DEFAULT_SECONDS,
    reference: textOrNull(input.reference) ?? null,
  };
}
