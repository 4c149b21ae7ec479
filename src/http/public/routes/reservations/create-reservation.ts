import { ApiError, type ErrorCode } from '../../../../contract/errors.ts';
import { ACTIVE_RESERVATIONS_LIMIT } from '../../../../contract/limits.ts';
import type { OPERATIONS } from '../../../../contract/operations.ts';
import { makeReservations, type ReservationRefusal } from '../../../../sales/reservations/make-reservations.ts';
import { draftReservation, type ReservationDraft } from '../../../../sales/reservations/reservation-draft.ts';
import { presentReservation } from '../../../../sales/reservations/reservation-rows.ts';
import type { Handler } from '../../handler.ts';
import { answerWrite } from '../../writes/answer-write.ts';
import type { WriteKind } from '../../writes/write-kind.ts';

const reservationRequest: WriteKind<ReservationDraft> = {
  failureCode: 'reservation_failed',
  lockOf: ({ integrationId }) => `clock ${integrationId}`,
  batchLimit: 25,
  transaction: { planning: 'once' },
  async work(tx, channel, items) {
    const [first] = items;
    const { integrationId, organizationId, isTestMode: isTest } = first.integration;
    const drafts = items.map(({ input }) => input);
    const made = await makeReservations(tx, channel, { integrationId, organizationId, isTest }, drafts);
    const results = items.map(({ integration, input }, index) => {
      const result = made.results[index];
      if (result === undefined) throw new Error(`${items.length} reservations got ${made.results.length} results`);
      if ('refused' in result) return refusalOf(result, input);
      return { status: 201, body: presentReservation(channel, integration.apiVersion, result), isTest };
    });
    return { results, touched: made.touched };
  },
};

export const createReservation: Handler<typeof OPERATIONS.createReservation> = async (call) =>
  await answerWrite(call, reservationRequest, draftReservation(call.body));

const NOT_FOUND: Record<ReservationDraft['kind'], ErrorCode> = {
  listing: 'listing_not_found',
  part: 'part_not_found',
};

function refusalOf(refusal: ReservationRefusal, { kind, units }: ReservationDraft): ApiError {
  switch (refusal.refused) {
    case 'not_found':
      return new ApiError(NOT_FOUND[kind], { param: `${kind}_id` });
    case 'too_many':
      return new ApiError('too_many_reservations', {
        message: `The integration has ${ACTIVE_RESERVATIONS_LIMIT} active reservations, as many as it may.`,
      });
    case 'not_available':
      return new ApiError('not_available', {
        message: `Too few units are left: you asked for ${units}, and ${refusal.remaining} can be reserved.`,
        facts: { remaining_quantity: refusal.remaining },
      });
  }
}
