import { type Sql, sql } from './sql.ts';

/** A page of up to so many bytes is read by one statement and held as a whole. A larger one is read and sent in pieces. */
export const WHOLE_PAGE_BYTES = 2_097_152;
/**
 * The bytes of such a piece, besides the document that passes them. The event loop does nothing else while the driver reads a
 * piece and while it is written: with pieces of 2 MiB the p50 of another client went from 1.3 to 25 ms.
 */
export const PIECE_BYTES = 262_144;
/** Of so many documents a piece is made, so that its statement does not look up the whole rest of the page. */
export const PIECE_DOCUMENTS = 32;

/** A page of more bytes than are kept in memory at once. */
export type PageRest = {
  count: number;
  /** Ids, stamps and whatever else decides the page's bytes. */
  identity: string[];
  /** The documents from an index on, as far as they make a piece; throws if the first of them has changed since. */
  read(from: number): Promise<Buffer[]>;
};

/**
 * A column of documents, cut off by bytes: null from the row on before which `order` already counts so many. The length
 * of a stored text is known without reading it.
 */
export function documentsWithin(bytes: number, column: Sql, order: Sql): Sql {
  return sql`case when sum(octet_length(${column})) over (order by ${order} rows unbounded preceding)
    - octet_length(${column}) < ${bytes} then ${column} end`;
}

/** The same for a page: all its documents if they may be held as a whole, else those of its first piece. */
export function pageDocuments(column: Sql, order: Sql): Sql {
  return sql`case when sum(octet_length(${column})) over () <= ${WHOLE_PAGE_BYTES} then ${column}
    else ${documentsWithin(PIECE_BYTES, column, order)} end`;
}

/** All documents of a page, or, if it is too large to be held as a whole, those of its first piece. */
export function firstPiece(documents: (Buffer | null)[]): Buffer[] {
  let bytes = 0;
  for (const document of documents) bytes += document === null ? WHOLE_PAGE_BYTES + 1 : document.length;
  return bytes <= WHOLE_PAGE_BYTES ? (documents as Buffer[]) : pieceOf(documents);
}

/** The documents up to the first that was cut off, or to the one with which they pass the bytes of a piece. */
function pieceOf(documents: (Buffer | null)[]): Buffer[] {
  const piece: Buffer[] = [];
  let bytes = 0;
  for (const document of documents) {
    if (document === null || bytes >= PIECE_BYTES) break;
    bytes += document.length;
    piece.push(document);
  }
  return piece;
}

/** The next piece of a page; throws if its first document is not there any more as the page began with it. */
export function assertPiece(documents: (Buffer | null)[]): Buffer[] {
  const piece = pieceOf(documents);
  if (piece.length === 0) throw new Error('a document of the page changed or went while the page was sent');
  return piece;
}

/** The rows of a page that is cut off by bytes, and whether the list goes on behind them. */
export type RowsWithin<Row> = { rows: Row[]; isMore: boolean };

/** Cuts a page by rows and by bytes. `bytes` absent is no limit of bytes. */
export type PageLimits = { rows: number; bytes?: number | undefined };

/**
 * The first rows of a page: as many as the limits allow, and at least one, so that a list always goes on. `rows` has the
 * columns of `key` and `bytes`, and one row more than the limit. Each row that is left also has `found`, the number of
 * rows there were: the list goes on if that is more than are left.
 */
export function rowsWithin(limits: PageLimits, rows: Sql, key: Sql, order: Sql): Sql {
  return sql`
    select ${key}, found from (
      select ${key}, (count(*) over ())::integer as found, row_number() over (order by ${order}) as number,
        sum(bytes) over (order by ${order} rows unbounded preceding) as total
      from (${rows}) sized) counted
    where number <= ${limits.rows} and (number = 1 or total <= ${limits.bytes ?? Number.MAX_SAFE_INTEGER})`;
}

/** What `rowsWithin` left, in the order in which it was read. */
export function asRowsWithin<Row extends { found: number }>(rows: Row[]): RowsWithin<Row> {
  return { rows, isMore: (rows[0]?.found ?? 0) > rows.length };
}

/** Splits rows whose sizes are known into pages to read: as many as the bytes of a page allow, and at least one. */
export function inPages<Sized extends { bytes: number }>(rows: readonly Sized[], bytesMax: number): Sized[][] {
  const pages: Sized[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    if (bytes + row.bytes > bytesMax) {
      pages.push([]);
      bytes = 0;
    }
    pages.at(-1)?.push(row);
    bytes += row.bytes;
  }
  return pages;
}
