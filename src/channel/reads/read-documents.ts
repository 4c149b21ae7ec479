import { createSingleFlight } from '../../concurrency/single-flight.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { assertPiece, firstPiece, type PageRest, PIECE_DOCUMENTS } from '../../db/large-pages.ts';
import { type Sql, sql } from '../../db/sql.ts';
import type { ChannelContext } from '../context.ts';
import { refreshDueOf, refreshOne } from '../projection/due-promotions.ts';
import { rendererKey } from '../projection/project-items.ts';
import { type ByteCache, createByteCache } from './byte-cache.ts';
import {
  type DocumentRow,
  type PageRequest,
  type PageRow,
  type PieceRow,
  pageRows,
  pieceRows,
  rowsOfIds,
  type Scope,
} from './document-rows.ts';

/** Several documents in their order, all of one moment. */
export type Documents = {
  /** All of them; of a page that is too large to be held only the first ones. */
  documents: Buffer[];
  /** How to read on, if these are not all. */
  rest: PageRest | null;
  /** The version the documents are in; null if there are none. */
  version: string | null;
} & Freshness;

/** The row the next page begins after, if there is one. */
export type Page = Documents & { last: { id: string; atMs: number } | null };
/** The ids under which the client can read nothing, in the order asked. */
export type Many = Documents & { missing: string[] };

export type Found = {
  document: Buffer;
  version: string;
  /** When the first reservation of the item ends by itself. If that is past, the units are free and this does not say so. */
  reservedUntilMs: number | null;
} & Freshness;

/** How long what was read stays right, besides the clock. */
export type Freshness = {
  validUntilMs: number | null;
  /** False while some of it waits to be rendered anew: it may change without a stamp, so it must not be kept. */
  isCurrent: boolean;
};

export type DocumentReader = {
  page(scope: Scope, request: PageRequest, now: Date): Promise<Page>;
  /** The documents in the order of the ids. Each id may be there only once. */
  many(scope: Scope, itemIds: string[], now: Date): Promise<Many>;
  /** Null if the client can read nothing under this id. */
  one(scope: Scope, itemId: string, now: Date): Promise<Found | null>;
};

type CachedDocument = { document: Buffer; size: number };
/** What a page consists of; the document is null beyond a large page's first piece. */
type PageDocument = { document: Buffer | null; isCurrent: boolean; renderer: string };

/**
 * A read that finds expired documents has a batch of them projected and reads again. This many batches are ten thousand
 * documents. If more fall due at once, the worker renders them, and the client retries.
 */
const PAGE_ATTEMPTS = 100;
const SINGLE_ATTEMPTS = 5;
/** Of documents that were asked for by id, so many are projected in one transaction. */
const REFRESH_LIMIT = 100;

/** Where the rows of several documents come from. */
type RowSource = {
  find(isWhole: boolean): Promise<PageRow[]>;
  /** How many of them are read. */
  limit: number;
  /** Projects some that are past their time. */
  refresh(dueIds: string[]): Promise<void>;
};

export function createDocumentReader(context: ChannelContext, cacheBytes: number): DocumentReader {
  const cache: ByteCache<CachedDocument> = createByteCache(cacheBytes);
  const renderer = rendererKey(context);
  const refreshOnce = createSingleFlight<void>();

  async function page(scope: Scope, request: PageRequest, now: Date): Promise<Page> {
    const { rows, ...documents } = await read(scope, now, {
      find: (isWhole) => pageRows(context, scope, request, isWhole),
      limit: request.limit,
      refresh: () => refreshOnce(scope.integrationId, () => refreshDueOf(context, scope.integrationId)),
    });
    const last = rows.length > request.limit ? rows[request.limit - 1] : undefined;
    return { ...documents, last: last === undefined ? null : { id: last.item_id, atMs: last.updated_at.getTime() } };
  }

  async function many(scope: Scope, itemIds: string[], now: Date): Promise<Many> {
    const { rows, ...documents } = await read(scope, now, {
      find: (isWhole) => rowsOfIds(context, scope, itemIds, isWhole),
      limit: itemIds.length,
      refresh: (due) => refreshOne(context, scope.integrationId, due.slice(0, REFRESH_LIMIT)),
    });
    const found = new Set(rows.map((row) => row.item_id));
    return { ...documents, missing: itemIds.filter((id) => !found.has(id)) };
  }

  /** Reads rows and the documents of those within the limit, again until none of them is past its time. */
  async function read(scope: Scope, now: Date, source: RowSource): Promise<Documents & { rows: PageRow[] }> {
    let isWhole = false;
    for (let attempt = 1; attempt <= PAGE_ATTEMPTS; attempt++) {
      const rows = await source.find(isWhole);
      const shown = rows.slice(0, source.limit);
      const due = shown.filter((row) => isDue(row, now));
      if (due.length > 0) {
        await source.refresh(due.map((row) => row.item_id));
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
      return {
        rows,
        ...piecesOf(scope, shown, documents),
        validUntilMs: earliest(shown),
        isCurrent: documents.every((found) => found.isCurrent),
        version: shown[0]?.api_version ?? null,
      };
    }
    throw stillDue();
  }

  async function one(scope: Scope, itemId: string, now: Date): Promise<Found | null> {
    for (let attempt = 1; attempt <= SINGLE_ATTEMPTS; attempt++) {
      const [row] = await context.db.query<DocumentRow & { kind: string; reserved_until: Date | null }>(sql`
        select api_version, item_id, kind, updated_at, is_unpriceable, valid_until, document, renderer,
          ${reservedUntil(sql`channel_documents.item_id`)} as reserved_until
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
      const reservedUntilMs = row.reserved_until?.getTime() ?? null;
      const validUntilMs = earlierTime(row.valid_until?.getTime() ?? null, reservedUntilMs);
      return { document, isCurrent, validUntilMs, reservedUntilMs, version: row.api_version };
    }
    throw stillDue();
  }

  /** The documents of a page: those already known by their stamps, the rest in one statement; null if one moved on. */
  async function documentsOf(scope: Scope, rows: PageRow[]): Promise<PageDocument[] | null> {
    const known = rows.map((row) => cache.get(cacheKey(scope, row)));
    const missing = rows.filter((_, index) => known[index] === undefined);
    const fetched = new Map<string, PageDocument>();
    if (missing.length > 0) {
      for (const row of await pieceRows(context, scope, missing, 'page')) {
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

  /** The page as it is, if it can be held as a whole; else its beginning, and how to read on. */
  function piecesOf(scope: Scope, rows: PageRow[], found: PageDocument[]): Pick<Page, 'documents' | 'rest'> {
    const documents = firstPiece(found.map((one) => one.document));
    if (documents.length === found.length) return { documents, rest: null };
    const identity = rows.map((row, index) => `${row.item_id} ${row.updated_at.getTime()} ${found[index]?.renderer}`);
    const read = async (from: number) => {
      const wanted = rows.slice(from, from + PIECE_DOCUMENTS);
      const found = await pieceRows(context, scope, wanted, 'piece');
      const byKey = new Map(found.map((row) => [cacheKey(scope, row), row]));
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

  return { page, many, one };
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

/** When the first live reservation of an item ends by itself, as SQL; null if none holds units. */
function reservedUntil(itemId: Sql): Sql {
  return sql`(
    select min(r.expires_at) from reservations r
    where r.item_id = ${itemId} and r.status = 'active' and not r.is_test)`;
}

export function earlierTime(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

function stillDue(): Error {
  return new Error('documents kept falling due, or changing, while read');
}

function earliest(rows: PageRow[]): number | null {
  const moments = rows.flatMap((row) => (row.valid_until === null ? [] : [row.valid_until.getTime()]));
  return moments.length === 0 ? null : Math.min(...moments);
}
