import type { Scope } from '../../../../channel/reads/document-rows.ts';
import { earlierTime, type Found } from '../../../../channel/reads/read-documents.ts';
import { valuesOf } from '../../../../contract/enumerations.ts';
import { ApiError } from '../../../../contract/errors.ts';
import { isId } from '../../../../contract/ids.ts';
import type { OPERATIONS } from '../../../../contract/operations.ts';
import { expireReservationsOf } from '../../../../sales/reservations/expire-reservations.ts';
import { reservedUntil } from '../../../../sales/reservations/read-reservations.ts';
import type { AdmittedIntegration } from '../../authentication.ts';
import { reading } from '../../database-faults.ts';
import type { Call, Handler, PublicContext } from '../../handler.ts';
import { assertIdsAlone, readIds } from '../../reads/ids-query.ts';
import { listBody } from '../../reads/list-body.ts';
import { parseChoices, readListQuery } from '../../reads/list-query.ts';

type Kind = 'listing' | 'part';

const KINDS = {
  listing: { list: 'listings', notFound: 'listing_not_found', statuses: valuesOf('listing_status') },
  part: { list: 'parts', notFound: 'part_not_found', statuses: valuesOf('part_status') },
} as const;

/** What can be sold now: the content of a plain list. */
const ON_SALE = ['active'];

export function listItems(kind: Kind): Handler<typeof OPERATIONS.listListings> {
  const { list, statuses } = KINDS[kind];
  return async (call) => {
    const { context, integration, query, request, reply } = call;
    if (query.ids !== undefined) return await readMany(kind, call);
    const wanted = readListQuery({
      list,
      integrationId: integration.integrationId,
      cursors: context.cursors,
      limit: query.limit,
      after: query.after,
      since: { name: 'updated_after', text: query.updated_after },
      filter: { name: 'status', text: query.status, parse: (text) => parseChoices('status', statuses, text) },
    });
    return await context.readCache.serve({ request, reply, integration, key: wanted.key }, async () => {
      // With updated_after every status counts, or a client could not learn that something was sold.
      const status = wanted.filter ?? (wanted.since === null ? ON_SALE : null);
      const page = await reading(() =>
        context.reader.page(
          scopeOf(integration, kind),
          { limit: wanted.limit, statuses: status, updatedAfter: wanted.since, before: wanted.before },
          new Date(integration.nowMs),
        ),
      );
      const { documents, rest, last, version, validUntilMs, isCurrent } = page;
      const nextCursor = last === null ? null : wanted.cursorAfter(last);
      return { ...listBody({ documents, rest, nextCursor }, String(version)), version, validUntilMs, isCurrent };
    });
  };
}

/** The items that were asked for by id, in that order, whatever their status. */
async function readMany(kind: Kind, call: Call<typeof OPERATIONS.listListings>): Promise<unknown> {
  const { context, integration, query, request, reply } = call;
  assertIdsAlone(query);
  // As it was sent: to take 250 ids apart costs 0.2 ms, as much as sending the answer.
  const key = `${kind} ids ${query.ids}`;
  return await context.readCache.serve({ request, reply, integration, key }, async () => {
    const ids = readIds(query.ids ?? '');
    const wellFormed = ids.filter((id) => isId(kind, id));
    const reservedUntilMs = await reading(() => endOverdue(context, integration, wellFormed));
    const { documents, rest, missing, version, isCurrent, ...read } = await reading(() =>
      context.reader.many(scopeOf(integration, kind), wellFormed, new Date(integration.nowMs)),
    );
    const validUntilMs = earlierTime(read.validUntilMs, reservedUntilMs);
    const unread = new Set(missing);
    const unknown = ids.filter((id) => unread.has(id) || !isId(kind, id));
    const body = listBody({ documents, rest, nextCursor: null, missing: unknown }, String(version));
    return { ...body, version, validUntilMs, isCurrent };
  });
}

export function getItem(kind: Kind): Handler<typeof OPERATIONS.getListing> {
  const { list, notFound } = KINDS[kind];
  return async ({ context, integration, params, request, reply }) => {
    if (!isId(kind, params.id)) throw new ApiError(notFound);
    // The plain URL itself, so that it is found at once. No other question begins with a slash.
    const key = `/api/v1/${list}/${params.id}`;
    return await context.readCache.serve({ request, reply, integration, key }, async () => {
      const found = await reading(() => readOne(context, integration, kind, params.id));
      if (found === null) throw new ApiError(notFound);
      const { document, version, validUntilMs, isCurrent } = found;
      return { body: document, version, validUntilMs, isCurrent };
    });
  };
}

/** Ends the reservations of items that are over; answers when the next one of them is. */
async function endOverdue(
  { db, channel }: PublicContext,
  { organizationId, nowMs }: AdmittedIntegration,
  itemIds: string[],
): Promise<number | null> {
  const until = await reservedUntil(db, organizationId, itemIds);
  const overdue = until.filter(({ untilMs }) => untilMs <= nowMs);
  if (overdue.length === 0) return until[0]?.untilMs ?? null;
  const overdueIds = overdue.map(({ itemId }) => itemId);
  await expireReservationsOf(channel, organizationId, overdueIds);
  return (await reservedUntil(db, organizationId, itemIds))[0]?.untilMs ?? null;
}

/** An item with a reservation whose time is over is read after the reservation has been ended. */
async function readOne(
  { reader, channel }: PublicContext,
  integration: AdmittedIntegration,
  kind: Kind,
  id: string,
): Promise<Found | null> {
  const read = () => reader.one(scopeOf(integration, kind), id, new Date(integration.nowMs));
  const found = await read();
  if (found === null || found.reservedUntilMs === null || found.reservedUntilMs > integration.nowMs) return found;
  await expireReservationsOf(channel, integration.organizationId, [id]);
  return await read();
}

function scopeOf(integration: AdmittedIntegration, kind: Kind): Scope {
  return { integrationId: integration.integrationId, kind };
}
