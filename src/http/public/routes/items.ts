import type { Scope } from '../../../channel/reads/read-documents.ts';
import { valuesOf } from '../../../contract/catalogue.ts';
import { ApiError } from '../../../contract/errors.ts';
import { isId } from '../../../contract/ids.ts';
import type { OPERATIONS } from '../../../contract/operations.ts';
import type { AdmittedIntegration } from '../authentication.ts';
import { reading } from '../database-faults.ts';
import type { Handler } from '../handler.ts';
import { listBody } from '../list-body.ts';
import { parseChoices, readListQuery } from '../list-query.ts';

type Kind = 'listing' | 'part';

const KINDS = {
  listing: { list: 'listings', notFound: 'listing_not_found', statuses: valuesOf('listing_status') },
  part: { list: 'parts', notFound: 'part_not_found', statuses: valuesOf('part_status') },
} as const;

/** What can be sold now: the content of a plain list. */
const ON_SALE = ['active'];

export function listItems(kind: Kind): Handler<typeof OPERATIONS.listListings> {
  const { list, statuses } = KINDS[kind];
  return async ({ context, integration, query, request, reply }) => {
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

export function getItem(kind: Kind): Handler<typeof OPERATIONS.getListing> {
  const { notFound } = KINDS[kind];
  return async ({ context, integration, params, request, reply }) => {
    if (!isId(kind, params.id)) throw new ApiError(notFound);
    return await context.readCache.serve({ request, reply, integration, key: params.id }, async () => {
      const found = await reading(() =>
        context.reader.one(scopeOf(integration, kind), params.id, new Date(integration.nowMs)),
      );
      if (found === null) throw new ApiError(notFound);
      return { ...found, body: found.document };
    });
  };
}

function scopeOf(integration: AdmittedIntegration, kind: Kind): Scope {
  return { integrationId: integration.integrationId, kind };
}
