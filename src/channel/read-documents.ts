import { createSingleFlight } from '../concurrency/single-flight.ts';
import { DomainError } from '../contract/domain-error.ts';
import { sql } from '../db/sql.ts';
import type { ChannelContext } from './context.ts';
import { type ByteCache, createByteCache } from './document-cache.ts';
import { refreshDueOf, refreshOne } from './due-documents.ts';
import { rendererKey } from './project-items.ts';

/** Which documents are read: those of one integration, in the version that it is pinned to at that moment. */
export type Scope = { integrationId: string; kind: 'listing' | 'part' };

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
  /** The version the documents are in; null if there are none. */
  version: string | null;
} & Freshness;

export type Found = { document: Buffer; version: string } & Freshness;

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
type ReadDocument = { document: Buffer; isCurrent: boolean };
type PageRow = {
  api_version: string;
  item_id: string;
  updated_at: Date;
  is_unpriceable: boolean;
  valid_until: Date | null;
};
type DocumentRow = PageRow & { document: string; renderer: string };

/**
 * A read that meets documents past their time has a batch of them projected and looks again. So many batches are ten
 * thousand documents; when more fall due at once, the worker is at it and the client may try again.
 */
const PAGE_ATTEMPTS = 100;
const SINGLE_ATTEMPTS = 5;

export function createDocumentReader(context: ChannelContext, cacheBytes: number): DocumentReader {
  const cache: ByteCache<CachedDocument> = createByteCache(cacheBytes);
  const renderer = rendererKey(context);
  const refreshOnce = createSingleFlight<void>();

  async function page(scope: Scope, request: PageRequest, now: Date): Promise<Page> {
    let isWhole = false;
    for (let attempt = 1; attempt <= PAGE_ATTEMPTS; attempt++) {
      const rows = await pageRows(context, scope, request, isWhole);
      const shown = rows.slice(0, request.limit);
      if (shown.some((row) => isDue(row, now))) {
        await refreshOnce(scope.integrationId, () => refreshDueOf(context, scope.integrationId));
        continue;
      }
      for (const row of shown) assertPriced(row);
      const documents = isWhole ? shown.map((row) => keep(scope, row as DocumentRow)) : await documentsOf(scope, shown);
      if (documents === null) {
        // One changed between the two statements. On a busy channel it may again, so now all is read in one.
        isWhole = true;
        continue;
      }
      const last = rows.length > shown.length ? shown.at(-1) : undefined;
      return {
        documents: documents.map((found) => found.document),
        last: last === undefined ? null : { id: last.item_id, atMs: last.updated_at.getTime() },
        validUntilMs: earliest(shown),
        isCurrent: documents.every((found) => found.isCurrent),
        version: shown[0]?.api_version ?? null,
      };
    }
    throw stillDue();
  }

  async function one(scope: Scope, itemId: string, now: Date): Promise<Found | null> {
    for (let attempt = 1; attempt <= SINGLE_ATTEMPTS; attempt++) {
      const [row] = await context.db.query<DocumentRow & { kind: string }>(sql`
        select api_version, item_id, kind, updated_at, is_unpriceable, valid_until, document, renderer
        from channel_documents
        where integration_id = ${scope.integrationId} and item_id = ${itemId}
          and api_version = (select api_version from integrations where id = ${scope.integrationId})`);
      if (row === undefined || row.kind !== scope.kind) return null;
      if (isDue(row, now)) {
        await refreshOne(context, scope.integrationId, [itemId]);
        continue;
      }
      assertPriced(row);
      return { ...keep(scope, row), validUntilMs: row.valid_until?.getTime() ?? null, version: row.api_version };
    }
    throw stillDue();
  }

  /** The documents of a page: those already known by their stamps, the rest in one statement; null if one moved on. */
  async function documentsOf(scope: Scope, rows: PageRow[]): Promise<ReadDocument[] | null> {
    const known = rows.map((row) => cache.get(cacheKey(scope, row)));
    const missing = rows.filter((_, index) => known[index] === undefined);
    const fetched = new Map<string, ReadDocument>();
    if (missing.length > 0) {
      const found = await context.db.query<DocumentRow>(sql`
        select api_version, item_id, updated_at, is_unpriceable, valid_until, document, renderer from channel_documents
        where integration_id = ${scope.integrationId} and api_version = ${missing[0]?.api_version}
          and item_id = any(${missing.map((row) => row.item_id)}::text[])`);
      for (const row of found) fetched.set(cacheKey(scope, row), keep(scope, row));
    }
    const documents = rows.map((row, index) => {
      const cached = known[index];
      return cached === undefined ? fetched.get(cacheKey(scope, row)) : { document: cached.document, isCurrent: true };
    });
    return documents.every((found) => found !== undefined) ? documents : null;
  }

  function keep(scope: Scope, row: DocumentRow): ReadDocument {
    const document = Buffer.from(row.document);
    const isCurrent = row.renderer === renderer;
    if (isCurrent) cache.set(cacheKey(scope, row), { document, size: document.length });
    return { document, isCurrent };
  }

  return { page, one };
}

/** The rows of a page and one more; with their documents, if all must be of one moment. */
async function pageRows(
  context: ChannelContext,
  scope: Scope,
  request: PageRequest,
  isWhole: boolean,
): Promise<PageRow[]> {
  const { statuses, updatedAfter, before } = request;
  // What can be sold now is by far the most frequent list, and has an index of its own.
  const isActiveOnly = statuses?.length === 1 && statuses[0] === 'active';
  const status =
    statuses === null ? sql`` : isActiveOnly ? sql`and status = 'active'` : sql`and status = any(${statuses}::text[])`;
  const since = updatedAfter === null ? sql`` : sql`and updated_at > ${updatedAfter}`;
  const from = before === null ? sql`` : sql`and (updated_at, item_id) < (${before.at}, ${before.id})`;
  return await context.db.query<PageRow>(sql`
    select api_version, item_id, updated_at, is_unpriceable, valid_until ${isWhole ? sql`, document, renderer` : sql``}
    from channel_documents
    where integration_id = ${scope.integrationId} and kind = ${scope.kind}
      and api_version = (select api_version from integrations where id = ${scope.integrationId})
      ${status} ${since} ${from}
    order by updated_at desc, item_id desc limit ${request.limit + 1}`);
}

function cacheKey(scope: Scope, row: PageRow): string {
  return `${scope.integrationId} ${row.api_version} ${row.item_id} ${row.updated_at.getTime()}`;
}

function isDue(row: PageRow, now: Date): boolean {
  return row.valid_until !== null && row.valid_until <= now;
}

function assertPriced(row: PageRow): void {
  if (!row.is_unpriceable) return;
  throw new DomainError(
    'unpriceable',
    `${row.item_id} cannot be priced just now: an exchange rate is missing, or the price is too large.`,
  );
}

function stillDue(): Error {
  return new Error('documents kept falling due, or changing, while read');
}

function earliest(rows: PageRow[]): number | null {
  const moments = rows.flatMap((row) => (row.valid_until === null ? [] : [row.valid_until.getTime()]));
  return moments.length === 0 ? null : Math.min(...moments);
}
