import type { Queryable } from '../../db/database.ts';
import { documentsWithin, PIECE_BYTES, pageDocuments } from '../../db/large-pages.ts';
import { type Sql, sql } from '../../db/sql.ts';
import type { ChannelContext } from '../context.ts';

/** Which documents are read: those of one integration, in the version that it is pinned to at that moment. */
export type Scope = { integrationId: string; kind: 'listing' | 'part' };

export type PageRequest = {
  limit: number;
  /** Null is every status. */
  statuses: string[] | null;
  updatedAfter: Date | null;
  before: { id: string; at: Date } | null;
};

export type PageRow = {
  api_version: string;
  item_id: string;
  updated_at: Date;
  is_unpriceable: boolean;
  valid_until: Date | null;
};
export type DocumentRow = PageRow & { document: string; renderer: string };
/** The document is null beyond a page's first piece. */
export type PieceRow = PageRow & { document: string | null; renderer: string };

const ROW_COLUMNS = sql`api_version, item_id, updated_at, is_unpriceable, valid_until`;
/** Of documents that are all read in one statement; of those without, the index has every column. */
const columnsOf = (isWhole: boolean) => sql`${ROW_COLUMNS} ${isWhole ? sql`, document, renderer` : sql``}`;

/** The rows of a page and one more; with their documents, if all must be of one moment. */
export async function pageRows(
  context: ChannelContext,
  scope: Scope,
  request: PageRequest,
  isWhole: boolean,
): Promise<PageRow[]> {
  const { statuses, updatedAfter, before } = request;
  const limit = request.limit + 1;
  const since = updatedAfter === null ? sql`` : sql`and updated_at > ${updatedAfter}`;
  const from = before === null ? sql`` : sql`and (updated_at, item_id) < (${before.at}, ${before.id})`;
  const columns = columnsOf(isWhole);
  const order = sql`updated_at desc, item_id desc`;
  const pageOf = (whose: Sql) => sql`
    select ${columns} from channel_documents documents where ${whose} ${since} ${from} order by ${order} limit ${limit}`;
  const version = sql`(select api_version from integrations where id = ${scope.integrationId})`;
  // Nothing but the index of statuses knows all of this as one value, so the planner has no other to choose.
  const ofStatus = (status: Sql) => sql`
    (integration_id || ' ' || api_version || ' ' || kind || ' ' || documents.status) collate "C"
      = ${scope.integrationId} || ' ' || ${version} || ' ' || ${scope.kind} || ' ' || ${status}`;
  const [first, ...others] = statuses ?? [];
  // Of several statuses one page each, from its own end of the index; then the newest of them all.
  const rows =
    first === undefined
      ? pageOf(sql`integration_id = ${scope.integrationId} and kind = ${scope.kind} and api_version = ${version}`)
      : others.length === 0
        ? pageOf(ofStatus(sql`${first}`))
        : sql`
          select ${columns} from unnest(${statuses}::text[]) as wanted (status)
          cross join lateral (${pageOf(ofStatus(sql`wanted.status`))}) page
          order by ${order} limit ${limit}`;
  return await inOrder(context, rows, order, isWhole);
}

/** The rows that exist of some ids, in the order of the ids; with their documents, if all must be of one moment. */
export async function rowsOfIds(
  context: ChannelContext,
  scope: Scope,
  ids: string[],
  isWhole: boolean,
): Promise<PageRow[]> {
  const rows = sql`
    select ${columnsOf(isWhole)}, wanted.position
    from unnest(${ids}::text[]) with ordinality as wanted (id, position)
    join channel_documents on item_id = wanted.id
    where integration_id = ${scope.integrationId} and kind = ${scope.kind}
      and api_version = (select api_version from integrations where id = ${scope.integrationId})
    order by wanted.position`;
  return await inOrder(context, rows, sql`position`, isWhole);
}

async function inOrder(context: ChannelContext, rows: Sql, order: Sql, isWhole: boolean): Promise<PageRow[]> {
  if (!isWhole) return await context.db.query<PageRow>(rows);
  return await context.db.query<PieceRow>(sql`
    select ${ROW_COLUMNS}, renderer, ${pageDocuments(sql`document`, order)} as document
    from (${rows}) rows order by ${order}`);
}

/** These documents as they are now, in the order of the rows: of a page that begins, or as far as they make a piece. */
export async function pieceRows(
  context: ChannelContext,
  scope: Scope,
  rows: PageRow[],
  part: 'page' | 'piece',
): Promise<PieceRow[]> {
  const order = sql`wanted.position`;
  const document =
    part === 'page' ? pageDocuments(sql`document`, order) : documentsWithin(PIECE_BYTES, sql`document`, order);
  return await context.db.query<PieceRow>(sql`
    select ${ROW_COLUMNS}, renderer, ${document} as document
    from unnest(${rows.map((row) => row.item_id)}::text[]) with ordinality as wanted (id, position)
    join channel_documents on item_id = wanted.id
    where integration_id = ${scope.integrationId} and api_version = ${rows[0]?.api_version}
    order by ${order}`);
}

/** The stored document of one item in a version; null if the client can read nothing under this id. */
export async function findDocument(
  db: Queryable,
  { integrationId, apiVersion, kind }: Scope & { apiVersion: string },
  itemId: string,
): Promise<string | null> {
  const [row] = await db.query<{ document: string }>(sql`
    select document from channel_documents
    where integration_id = ${integrationId} and api_version = ${apiVersion} and item_id = ${itemId} and kind = ${kind}`);
  return row?.document ?? null;
}
