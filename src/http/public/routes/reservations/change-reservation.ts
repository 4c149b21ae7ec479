import { ApiError } from '../../../../contract/errors.ts';
import { isId } from '../../../../contract/ids.ts';
import type { OPERATIONS } from '../../../../contract/operations.ts';
import { changeReservations, type ReservationChange } from '../../../../sales/reservations/change-reservations.ts';
import { presentReservation } from '../../../../sales/reservations/reservation-rows.ts';
import type { Handler } from '../../handler.ts';
import { answerWrite } from '../../writes/answer-write.ts';
import type { WriteKind } from '../../writes/write-kind.ts';

/** Release and extend: both change one reservation under the same locks, so they may share a transaction. */
const reservationChange: WriteKind<ReservationChange> = {
  failureCode: 'reservation_failed',
  lockOf: ({ integrationId }) => `clock ${integrationId}`,
  batchLimit: 25,
  transaction: { planning: 'once' },
  async work(tx, channel, items) {
    const { integrationId, organizationId } = items[0].integration;
    const changes = items.map(({ input }) => input);
    const changed = await changeReservations(tx, channel, { integrationId, organizationId }, changes);
    const results = items.map(({ integration }, index) => {
      const result = changed.results[index] ?? null;
      if (result === null) return new ApiError('reservation_not_found');
      if (result.isRefused) {
        return new ApiError('reservation_not_active', { message: `The reservation is ${result.row.status}.` });
      }
      const body = presentReservation(channel, integration.apiVersion, result.row);
      // A reservation that was made in test mode stays a test, also when the integration has gone live since.
      return { status: 200, body, isTest: result.row.isTest };
    });
    return { results, touched: changed.touched };
  },
};

export const releaseReservation: Handler<typeof OPERATIONS.releaseReservation> = async (call) => {
  const reservationId = assertId(call.params.id);
  return await answerWrite(call, reservationChange, { reservationId, operation: 'release' });
};

export const extendReservation: Handler<typeof OPERATIONS.extendReservation> = async (call) => {
  const reservationId = assertId(call.params.id);
  const change = { reservationId, operation: 'extend', ttlSeconds: call.body.ttl_seconds } as const;
  return await answerWrite(call, reservationChange, change);
};

/** A malformed id is answered like an unknown one. */
function assertId(id: string): string {
  if (!isId('reservation', id)) throw new ApiError('reservation_not_found');
  return id;
}
