import { ApiError } from '../contract/errors.ts';
import { sql } from '../db/sql.ts';
import type { ChannelContext } from './context.ts';
import { type ByteCache, createByteCache } from './document-cache.ts';
import { refreshOne } from './due.ts';
import { rendererKey } from './refresh.ts';

/** Which documents are read: those of one integration, in its version. */
export type Scope = { integrationId: string; version: string; kind: 'listing' | 'part' };

export type PageRequest = {
  limit: number;
  /** Null is every status. */
  statuses: string[] | null;
  updatedAfter: Date | null;
  before: { id: string; at: Date } | null;
};

export type Page = {
  documents: Buffer[];
  /** The row the next page begins after, if there is one. */
  last: { id: string; atMs: number } | null;
  hasMore: boolean;
} & Freshness;

export type Found = { document: Buffer } & Freshness;

/** How long what was read stays right, besides the clock. */
export type Freshness = {
  validUntilMs: number | null;
  /** False while some of it waits to be rendered anew: it may change without a stamp, so it must not be kept. */
  isCurrent: boolean;
};

export type DocumentReader = {
  page(scope: Scope, request: PageRequest, now: Date): Promise<Page>;
  /** Null if the client can read nothing under this id. */
  one(scope: Scope, itemId: string, now: Date): Promise<Found | null>;
};

type CachedDocument = { document: Buffer; size: number };
type PageRow = { item_id: string; updated_at: Date; is_unpriceable: boolean; valid_until: Date | null };
type DocumentRow = PageRow & { document: string; renderer: string };

/** A read that meets documents past their time projects them and looks again; they can't all fall due at once for ever. */
const ATTEMPTS = 5;

export function createDocumentReader(context: ChannelContext, cacheBytes: number): DocumentReader {
  const cache: ByteCache<CachedDocument> = createByteCache(cacheBytes);
  const renderer = rendererKey(context);

  async function page(scope: Scope, request: PageRequest, now: Date): Promise<Page> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const rows = await pageRows(context, scope, request);
      const shown = rows.slice(0, request.limit);
      const due = shown.filter((row) => isDue(row, now));
      if (due.length > 0) {
        await refreshOne(
          context,
          scope.integrationId,
          due.map((row) => row.item_id),
        );
        continue;
      }
      for (const row of shown) assertPriced(row);
      const documents = await documentsOf(scope, shown);
      // A document changed between the two statements: the page has to be put together again.
      if (documents === null) continue;
      const last = shown.at(-1);
      const hasMore = rows.length > shown.length;
      return {
        documents: documents.map((found) => found.document),
        last: hasMore && last !== undefined ? { id: last.item_id, atMs: last.updated_at.getTime() } : null,
        hasMore,
        validUntilMs: earliest(shown),
        isCurrent: documents.every((found) => found.isCurrent),
      };
    }
    throw new ApiError('query_failed', { cause: new Error('the page kept changing while it was read') });
  }

  async function one(scope: Scope, itemId: string, now: Date): Promise<Found | null> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const [row] = await context.db.query<DocumentRow & { kind: string }>(sql`
        select item_id, kind, updated_at, is_unpriceable, valid_until, document, renderer from channel_documents
        where integration_id = ${scope.integrationId} and api_version = ${scope.version} and item_id = ${itemId}`);
      if (row === undefined || row.kind !== scope.kind) return null;
      if (isDue(row, now)) {
        await refreshOne(context, scope.integrationId, [itemId]);
        continue;
      }
      assertPriced(row);
      const { document, isCurrent } = keep(scope, row);
      return { document, isCurrent, validUntilMs: row.valid_until?.getTime() ?? null };
    }
    throw new ApiError('query_failed', { cause: new Error('the document kept falling due') });
  }

  /** The documents of a page: those already known by their stamps, the rest in one statement; null if one moved on. */
  async function documentsOf(
    scope: Scope,
    rows: PageRow[],
  ): Promise<{ document: Buffer; isCurrent: boolean }[] | null> {
    const known = rows.map((row) => cache.get(cacheKey(scope, row)));
    const missing = rows.filter((_, index) => known[index] === undefined);
    const fetched = new Map<string, { document: Buffer; isCurrent: boolean }>();
    if (missing.length > 0) {
      const found = await context.db.query<DocumentRow>(sql`
        select item_id, updated_at, is_unpriceable, valid_until, document, renderer from channel_documents
        where integration_id = ${scope.integrationId} and api_version = ${scope.version}
          and item_id = any(${missing.map((row) => row.item_id)}::text[])`);
      for (const row of found) fetched.set(cacheKey(scope, row), keep(scope, row));
    }
    const documents = rows.map((row, index) => {
      const cached = known[index];
      return cached === undefined ? fetched.get(cacheKey(scope, row)) : { document: cached.document, isCurrent: true };
    });
    return documents.every((found) => found !== undefined) ? documents : null;
  }

  function keep(scope: Scope, row: DocumentRow): { document: Buffer; isCurrent: boolean } {
    const document = Buffer.from(row.document);
    const isCurrent = row.renderer === renderer;
    if (isCurrent) cache.set(cacheKey(scope, row), { document, size: document.length });
    return { document, isCurrent };
  }

  return { page, one };
}

async function pageRows(context: ChannelContext, scope: Scope, request: PageRequest): Promise<PageRow[]> {
  const { statuses, updatedAfter, before } = request;
  // What can be sold now is by far the most frequent list, and has an index of its own.
  const isActiveOnly = statuses?.length === 1 && statuses[0] === 'active';
  const status =
    statuses === null ? sql`` : isActiveOnly ? sql`and status = 'active'` : sql`and status = any(${statuses}::text[])`;
  const since = updatedAfter === null ? sql`` : sql`and updated_at > ${updatedAfter}`;
  const from = before === null ? sql`` : sql`and (updated_at, item_id) < (${before.at}, ${before.id})`;
  return await context.db.query<PageRow>(sql`
    select item_id, updated_at, is_unpriceable, valid_until from channel_documents
    where integration_id = ${scope.integrationId} and api_version = ${scope.version} and kind = ${scope.kind}
      ${status} ${since} ${from}
    order by updated_at desc, item_id desc limit ${request.limit + 1}`);
}

function cacheKey(scope: Scope, row: PageRow): string {
  return `${scope.integrationId} ${scope.version} ${row.item_id} ${row.updated_at.getTime()}`;
}

function isDue(row: PageRow, now: Date): boolean {
  return row.valid_until !== null && row.valid_until <= now;
}

function assertPriced(row: PageRow): void {
  if (!row.is_unpriceable) return;
  throw new ApiError('query_failed', {
    message: `${row.item_id} cannot be priced just now: an exchange rate is missing.`,
    cause: new Error(`no exchange rate for ${row.item_id}`),
  });
}

function earliest(rows: PageRow[]): number | null {
  const moments = rows.flatMap((row) => (row.valid_until === null ? [] : [row.valid_until.getTime()]));
  return moments.length === 0 ? null : Math.min(...moments);
}
