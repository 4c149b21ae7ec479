import type { PageRest } from '../../../db/large-pages.ts';
import { weakEtagOf } from '../../etag.ts';

/** The body of a list: its bytes, or, for a page that is larger than a piece, how to read them piece by piece. */
export type ListBody = { body: Buffer } | { stream: ListStream };

export type ListStream = {
  /** Names the page by what decides its bytes, which are not known before they are sent. */
  etag: string;
  /** How many documents the page has. */
  count: number;
  /** The first piece of the body, which is read already. */
  first: ListPiece;
  /** The piece that begins with the document of this index. */
  piece(from: number): Promise<ListPiece>;
};

/** Bytes of the body in their order, and the index of the document after them. */
export type ListPiece = { parts: Buffer[]; next: number };

export type ReadList = {
  /** All documents of the page, or, if there is a rest, the first ones. */
  documents: Buffer[];
  rest: PageRest | null;
  nextCursor: string | null;
  /** Of a read by ids: those that are not there. */
  missing?: string[];
};

/** The list envelope around documents that are JSON already. */
export function listBody({ documents, rest, nextCursor, missing }: ReadList, revision: string): ListBody {
  const absent = missing === undefined ? '' : `,"missing":${JSON.stringify(missing)}`;
  const tail = Buffer.from(`],"has_more":${nextCursor !== null},"next_cursor":${JSON.stringify(nextCursor)}${absent}}`);
  if (rest === null) return { body: Buffer.concat([LIST_HEAD, ...joined(documents, false), tail]) };
  const pieceOf = (from: number, found: Buffer[]): ListPiece => {
    const next = from + found.length;
    const head = from === 0 ? [LIST_HEAD] : [];
    const parts = [...head, ...joined(found, from > 0), ...(next === rest.count ? [tail] : [])];
    // One large document is sent as it is: each copy of it is work for the garbage collector.
    return { parts: found.length === 1 ? parts : [Buffer.concat(parts)], next };
  };
  return {
    stream: {
      etag: weakEtagOf([revision, String(nextCursor), ...(missing ?? []), ...rest.identity].join('\n')),
      first: pieceOf(0, documents),
      count: rest.count,
      piece: async (from) => pieceOf(from, await rest.read(from)),
    },
  };
}

const LIST_HEAD = Buffer.from('{"object":"list","data":[');
const COMMA = Buffer.from(',');

function joined(documents: Buffer[], isContinued: boolean): Buffer[] {
  return documents.flatMap((document, index) => (index > 0 || isContinued ? [COMMA, document] : [document]));
}
