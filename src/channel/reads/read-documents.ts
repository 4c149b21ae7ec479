import { createSingleFlight } from '../../concurrency/single-flight.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { assertPiece, documentsWithin, firstPiece, type PageRest, PIECE_BYTES } from '../../db/page-bytes.ts';
import { sql } from '../../db/sql.ts';
import type { ChannelContext } from '../context.ts';
import { refreshDueOf, refreshOne } from '../projection/due-promotions.ts';
import { rendererKey } from '../projection/project-items.ts';
import { type ByteCache, createByteCache } from './document-cache.ts';

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
  /** All of them; of a page that is larger than a piece only the first ones. */
  documents: Buffer[];
  /** How to read on, if these are not all. */
  rest: PageRest | null;
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
type PageRow = {
  api_version: string;
  item_id: string;
  updated_at: Date;
  is_unpriceable: boolean;
  valid_until: Date | null;
};
type DocumentRow = PageRow & { document: string; renderer: string };
/** The document is null beyond the bytes of a piece. */
type PieceRow = PageRow & { document: string | null; renderer: string };
/** What a page consists of; the document is null beyond the bytes of a piece. */
type PageDocument = { document: Buffer | null; isCurrent: boolean; renderer: string };

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
      const documents = isWhole
        ? shown.map((row) => keepPiece(scope, row as PieceRow))
        : await documentsOf(scope, shown);
      if (documents === null) {
        // One changed between the two statements. On a busy channel it may again, so now all is read in one.
        isWhole = true;
        continue;
      }
      const last = rows.length > shown.length ? shown.at(-1) : undefined;
      return {
        ...piecesOf(scope, shown, documents),
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
      const { document, isCurrent } = keep(scope, row);
      return { document, isCurrent, validUntilMs: row.valid_until?.getTime() ?? null, version: row.api_version };
    }
    throw stillDue();
  }

  /** The documents of a page: those already known by their stamps, the rest in one statement; null if one moved on. */
  async function documentsOf(scope: Scope, rows: PageRow[]): Promise<PageDocument[] | null> {
    const known = rows.map((row) => cache.get(cacheKey(scope, row)));
    const missing = rows.filter((_, index) => known[index] === undefined);
    const fetched = new Map<string, PageDocument>();
    if (missing.length > 0) {
      for (const row of await pieceRows(context, scope, missing)) {
        fetched.set(cacheKey(scope, row), keepPiece(scope, row));
      }
    }
    const documents = rows.map((row, index) => {
      const cached = known[index];
      return cached === undefined
        ? fetched.get(cacheKey(scope, row))
        : { document: cached.document, isCurrent: true, renderer };
    });
    return documents.every((found) => found !== undefined) ? documents : null;
  }

  /** The page as it is, if it is no larger than a piece; else its beginning, and how to read on. */
  function piecesOf(scope: Scope, rows: PageRow[], found: PageDocument[]): Pick<Page, 'documents' | 'rest'> {
    const documents = firstPiece(found.map((one) => one.document));
    if (documents.length === found.length) return { documents, rest: null };
    const identity = rows.map((row, index) => `${row.item_id} ${row.updated_at.getTime()} ${found[index]?.renderer}`);
    const read = async (from: number) => {
      const wanted = rows.slice(from);
      const byKey = new Map((await pieceRows(context, scope, wanted)).map((row) => [cacheKey(scope, row), row]));
      // Up to one that has changed since, which the next call finds at its beginning.
      const unchanged = wanted.map((row) => byKey.get(cacheKey(scope, row))?.document ?? null);
      return assertPiece(unchanged.map((text) => (text === null ? null : Buffer.from(text))));
    };
    return { documents, rest: { count: rows.length, identity, read } };
  }

  function keep(scope: Scope, row: DocumentRow): { document: Buffer; isCurrent: boolean } {
    const document = Buffer.from(row.document);
    const isCurrent = row.renderer === renderer;
    if (isCurrent) cache.set(cacheKey(scope, row), { document, size: document.length });
    return { document, isCurrent };
  }

  function keepPiece(scope: Scope, row: PieceRow): PageDocument {
    const { document } = row;
    if (document === null) return { document, isCurrent: row.renderer === renderer, renderer: row.renderer };
    return { ...keep(scope, { ...row, document }), renderer: row.renderer };
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
  const limit = request.limit + 1;
  const since = updatedAfter === null ? sql`` : sql`and updated_at > ${updatedAfter}`;
  const from = before === null ? sql`` : sql`and (updated_at, item_id) < (${before.at}, ${before.id})`;
  const columns = sql`api_version, item_id, updated_at, is_unpriceable, valid_until ${isWhole ? sql`, document, renderer` : sql``}`;
  const page = sql`
    select ${columns} from channel_documents documents
    where integration_id = ${scope.integrationId} and kind = ${scope.kind}
      and api_version = (select api_version from integrations where id = ${scope.integrationId})
      ${since} ${from}`;
  const order = sql`updated_at desc, item_id desc`;
  const [first, ...others] = statuses ?? [];
  // Of several statuses one page each, from its own end of the index; then the newest of them all.
  const rows =
    first === undefined
      ? sql`${page} order by ${order} limit ${limit}`
      : others.length === 0
        ? sql`${page} and status = ${first} order by ${order} limit ${limit}`
        : sql`
          select ${columns} from unnest(${statuses}::text[]) as wanted (status)
          cross join lateral (${page} and documents.status = wanted.status order by ${order} limit ${limit}) page
          order by ${order} limit ${limit}`;
  if (!isWhole) return await context.db.query<PageRow>(rows);
  return await context.db.query<PieceRow>(sql`
    select api_version, item_id, updated_at, is_unpriceable, valid_until, renderer,
      ${documentsWithin(PIECE_BYTES, sql`document`, order)} as document
    from (${rows}) rows order by ${order}`);
}

/** These documents as they are now, newest first, as far as they make a piece. */
async function pieceRows(context: ChannelContext, scope: Scope, rows: PageRow[]): Promise<PieceRow[]> {
  const order = sql`updated_at desc, item_id desc`;
  return await context.db.query<PieceRow>(sql`
    select api_version, item_id, updated_at, is_unpriceable, valid_until, renderer,
      ${documentsWithin(PIECE_BYTES, sql`document`, order)} as document
    from channel_documents
    where integration_id = ${scope.integrationId} and api_version = ${rows[0]?.api_version}
      and item_id = any(${rows.map((row) => row.item_id)}::text[])
    order by ${order}`);
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
