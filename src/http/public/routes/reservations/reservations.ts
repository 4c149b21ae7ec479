import { rendererKey } from '../../../../channel/projection/project-items.ts';
import { valuesOf } from '../../../../contract/enumerations.ts';
import { ApiError } from '../../../../contract/errors.ts';
import { isId } from '../../../../contract/ids.ts';
import type { OPERATIONS } from '../../../../contract/operations.ts';
import { expireReservationsOf, expireTestReservations } from '../../../../sales/reservations/expire-reservations.ts';
import {
  findReservation,
  listReservations as findReservations,
} from '../../../../sales/reservations/read-reservations.ts';
import { presentReservation, type ReservationRow } from '../../../../sales/reservations/reservation-rows.ts';
import type { AdmittedIntegration } from '../../authentication.ts';
import { reading } from '../../database-faults.ts';
import type { Handler, PublicContext } from '../../handler.ts';
import { listBody } from '../../reads/list-body.ts';
import { parseChoices, readListQuery } from '../../reads/list-query.ts';

const STATUSES = valuesOf('reservation_status');

export const listReservations: Handler<typeof OPERATIONS.listReservations> = async ({
  context,
  integration,
  query,
  request,
  reply,
}) => {
  const { integrationId, organizationId, apiVersion } = integration;
  const wanted = readListQuery({
    list: 'reservations',
    integrationId,
    cursors: context.cursors,
    limit: query.limit,
    after: query.after,
    since: { name: 'updated_after', text: undefined },
    filter: { name: 'status', text: query.status, parse: (text) => parseChoices('status', STATUSES, text) },
  });
  const { limit, filter: statuses, before, key } = wanted;
  return await context.readCache.serve({ request, reply, integration, key }, async () => {
    const rows = await reading(() =>
      findReservations(context.db, { integrationId, organizationId, limit: limit + 1, statuses, before }),
    );
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const hasMore = rows.length > shown.length && last !== undefined;
    const nextCursor = hasMore ? wanted.cursorAfter({ id: last.id, atMs: last.updatedAt.getTime() }) : null;
    const documents = shown.map((row) => Buffer.from(presentReservation(context.channel, apiVersion, row)));
    const body = listBody({ documents, rest: null, nextCursor }, `${apiVersion} ${rendererKey(context.channel)}`);
    return { ...body, validUntilMs: null, isCurrent: true };
  });
};

export const getReservation: Handler<typeof OPERATIONS.getReservation> = async ({
  context,
  integration,
  params,
  request,
  reply,
}) => {
  if (!isId('reservation', params.id)) throw new ApiError('reservation_not_found');
  return await context.readCache.serve({ request, reply, integration, key: params.id }, async () => {
    const row = await reading(() => readOne(context, integration, params.id));
    if (row === null) throw new ApiError('reservation_not_found');
    return {
      body: Buffer.from(presentReservation(context.channel, integration.apiVersion, row)),
      validUntilMs: row.status === 'active' ? row.expiresAt.getTime() : null,
      isCurrent: true,
    };
  });
};

/** A reservation whose time is over is ended first. */
async function readOne(
  { db, channel }: PublicContext,
  integration: AdmittedIntegration,
  id: string,
): Promise<ReservationRow | null> {
  const row = await findReservation(db, integration, id);
  if (row === null || row.status !== 'active' || row.expiresAt.getTime() > integration.nowMs) return row;
  if (row.isTest) await expireTestReservations(channel, integration.integrationId);
  else await expireReservationsOf(channel, integration.organizationId, [row.itemId]);
  return await findReservation(db, integration, id);
}
