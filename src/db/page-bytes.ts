import { type Sql, sql } from './sql.ts';

/**
 * How many bytes of documents one statement of a list brings into memory, besides the document that passes the limit. A
 * page that is larger is read in pieces of this size.
 */
export const PIECE_BYTES = 2_097_152;

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

/** The documents up to the first that was cut off, or to the one with which they pass the bytes of a piece. */
export function firstPiece(documents: (Buffer | null)[]): Buffer[] {
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
  const piece = firstPiece(documents);
  if (piece.length === 0) throw new Error('a document of the page changed or went while the page was sent');
  return piece;
}
