import { type CappedCount, COUNT_LIMIT, cappedCount } from '../../contract/dashboard/list.ts';
import type { StockSort, StockStatus } from '../../contract/dashboard/stock/stock.ts';
import type { Queryable } from '../../db/database.ts';
import {
  FOUND_LIMIT,
  hasWords,
  type Matches,
  matchWords,
  rowHasWords,
  type WordSearch,
} from '../../db/search-words.ts';
import { plannedAnew, rawSql, type Sql, sql } from '../../db/sql.ts';
import { transactionTime } from '../../db/sql-time.ts';

export type StockFilter = {
  organizationId: string;
  kind: 'listing' | 'part';
  /** Each word must begin a word of the stock number, title, brand, model, reference, part number or caliber. */
  search?: string;
  status?: StockStatus;
  isHidden?: boolean;
  /** On this channel; with `isOnNoChannel` on none at all. */
  integrationId?: string;
  isOnNoChannel?: boolean;
  /** Something that a buyer would miss is missing. */
  needsWork?: boolean;
  brand?: string;
  locationId?: string;
  priceFrom?: number;
  priceTo?: number;
  /** What `search` finds, if it is known already: a list and its count need it both. */
  matched?: Matches | null;
};

/** Where a page goes on: the sort value of the last row, as text, and its id. */
export type StockPosition = { value: string | null; id: string };

/** Rows after a position or, read backwards, before it. */
export type StockPage = StockFilter & {
  sort: StockSort;
  from: { position: StockPosition; isBackwards: boolean } | null;
  limit: number;
};

/** A row of a list; what its photo and channels are is read for the page, not for each candidate. */
export type StockRow = {
  id: string;
  kind: 'listing' | 'part';
  stockNumber: string;
  title: string;
  brand: string | null;
  reference: string | null;
  status: StockStatus;
  isHidden: boolean;
  priceAmount: number | null;
  promotionAmount: number | null;
  costAmount: number | null;
  units: number;
  reservedUnits: number;
  locationId: string | null;
  locationName: string | null;
  missing: string[];
  createdAt: Date;
  photoId: string | null;
  channels: { integrationId: string; isOn: boolean; status: string | null; price: ChannelPrice | null }[];
  sortValue: string | null;
};

/** What the site shows: null within a document is price on request. */
export type ChannelPrice = { amount: number; currency: string };

/** Counting stops here where every match has to be read from the table. */
const SCATTERED_COUNT_LIMIT = 1_000;
/** A word that many items have is looked for in so many rows of the list, before the index is asked for all of them. */
const WALK_LIMIT = 2_000;
/** A word that a quarter of the items has is counted among so many. */
const COUNT_WALK_LIMIT = 4_000;

type Column = { value: Sql; cast: Sql };

const COLUMNS: Record<string, Column> = {
  created: { value: sql`i.created_at`, cast: sql`timestamptz` },
  price: { value: sql`i.price_amount`, cast: sql`bigint` },
  title: { value: sql`i.title`, cast: sql`text` },
  stock_number: { value: sql`i.stock_number`, cast: sql`text` },
};

/**
 * One page of the stock. A page reads its rows in the order of an index, or finds few of them by another and sorts
 * them: the statement is planned for its values, since the same filter may match three items or all.
 */
export async function listStock(db: Queryable, page: StockPage, now: Date | null): Promise<StockRow[]> {
  const { sort, from } = page;
  const column = COLUMNS[sort.replace('-', '')] as Column;
  const isDescending = sort.startsWith('-') !== (from?.isBackwards ?? false);
  const direction = rawSql(isDescending ? 'desc' : 'asc');
  const matched = await matchesOf(db, page);
  const order = sql`${column.value} ${direction}, i.id ${direction}`;
  const candidates = sql`${conditionOf(page)} and ${behind(column, isDescending, from?.position ?? null)}`;
  const read = async (pageRows: Sql) => {
    const rows = await readRows(db, pageRows, column, now);
    return from?.isBackwards ? rows.reverse() : rows;
  };
  const all = sql`
    select i.id from items i where ${candidates} and ${isMatched(matched)} order by ${order} limit ${page.limit}`;
  if (matched === null || 'ids' in matched) return await read(all);
  const { words } = matched;
  // The first rows of the list fill a page; the index would read every match and sort them.
  const rows = await read(sql`
    select i.id from (
      select i.id, ${column.value}, i.search_words from items i
      where ${candidates} order by ${order} limit ${WALK_LIMIT}) i
    where ${rowHasWords(words, WORDS)} order by ${order} limit ${page.limit}`);
  if (rows.length === page.limit || (await isWithinWalk(db, candidates))) return rows;
  if (!isSearchAlone(page)) return await read(all);
  // The matches are far from the first rows: reading all of them costs less than what lies between.
  return await read(sql`
    with matches as materialized (
      select i.id, ${column.value} from items i where ${candidates} and ${hasWords(words, WORDS)})
    select i.id from matches i order by ${order} limit ${page.limit}`);
}

const WORDS = sql`i.search_words`;

/** Whether the walk has seen every row of the list. */
async function isWithinWalk(db: Queryable, candidates: Sql): Promise<boolean> {
  const [row] = await db.query<{ count: number }>(
    plannedAnew(sql`
      select count(*)::integer as count from (
        select from items i where ${candidates} limit ${WALK_LIMIT + 1}) counted`),
  );
  return (row?.count ?? 0) <= WALK_LIMIT;
}

/**
 * The rows of a page, by their ids. Two statements: what finds the ids is planned for its values, and from an index alone, so
 * that what is passed over on the way costs no look into the table; the rest is the same for every list, and planned once.
 */
async function readRows(db: Queryable, pageRows: Sql, column: Column, now: Date | null): Promise<StockRow[]> {
  for (;;) {
    const ids = (await db.query<{ id: string }>(plannedAnew(pageRows))).map(({ id }) => id);
    const rows = ids.length === 0 ? [] : await db.query<StockRow>(detailsOf(ids, column, now));
    // One that is missing was deleted in between; without it, a full page would look like the last.
    if (rows.length === ids.length) return rows;
  }
}

/** The items with their promotion, photo, location and channels, in the order of their ids. */
function detailsOf(ids: string[], column: Column, now: Date | null): Sql {
  return sql`
    with channels as materialized (
      select p.item_id, json_agg(json_build_object('integrationId', p.integration_id, 'isOn', p.is_on,
        'status', d.status, 'price', ${shownPrice(sql`d.document`)}) order by p.integration_id) as shown
      from publications p
      join integrations n on n.id = p.integration_id
      left join channel_documents d
        on d.integration_id = p.integration_id and d.api_version = n.api_version and d.item_id = p.item_id
      where p.item_id = any(${ids}::text[])
      group by p.item_id)
    select i.id, i.kind, i.stock_number as "stockNumber", i.title, i.attributes ->> 'brand' as brand,
      coalesce(i.attributes ->> 'reference_number', i.attributes ->> 'part_number') as reference,
      i.stock_status as status, i.is_hidden as "isHidden", i.price_amount as "priceAmount",
      (select p.price_amount from promotions p
        where p.item_id = i.id and p.starts_at <= clock.now and (p.ends_at is null or p.ends_at > clock.now)
        limit 1) as "promotionAmount",
      i.cost_amount as "costAmount", i.units, i.reserved_units as "reservedUnits", i.location_id as "locationId",
      l.name as "locationName", i.missing, i.created_at as "createdAt",
      (select p.id from photos p where p.item_id = i.id order by p.position limit 1) as "photoId",
      coalesce(c.shown, '[]'::json) as channels,
      ${column.value}::text as "sortValue"
    from unnest(${ids}::text[]) with ordinality as page (id, position)
    join items i on i.id = page.id
    left join channels c on c.item_id = i.id
    cross join (select ${transactionTime(now)} as now) clock
    left join locations l on l.id = i.location_id
    order by page.position`;
}

/** Before a document's price stand its id, status, title and stock number. */
const PRICE_WITHIN_CHARACTERS = 800;

/**
 * The price in a document, found as text: parsing a hundred documents took 9 ms, this takes 4. Within a string a quotation mark
 * is escaped, so the first key of this name is the price's own: all that is free or nested comes after it. Where it does not
 * stand near the start, as after a very long title, the document is parsed.
 */
function shownPrice(document: Sql): Sql {
  return sql`coalesce(
    substring(
      split_part(substr(${document}, 1, ${PRICE_WITHIN_CHARACTERS}), '"price":', 2) from '^(null|\\{[^{}]*\\})')::json,
    ${document}::json -> 'price')`;
}

/**
 * How many items match. Counting stops at a limit, and at a lower one where every match has to be read from the table,
 * because no index holds all that the filter asks: 10,000 items of a brand took 34 ms, 10,000 of a status 3.
 */
export async function countStock(db: Queryable, filter: StockFilter): Promise<CappedCount> {
  const matched = await matchesOf(db, filter);
  if (matched !== null && 'words' in matched) {
    const walked = matched.words.isCommon ? await countCommon(db, filter, matched.words) : null;
    if (walked !== null) return walked;
    // That more than so many match is known already.
    if (!matched.words.isCommon && isSearchAlone(filter)) return { value: FOUND_LIMIT, isCapped: true };
  }
  const limit = matched === null && isOfOneIndex(filter) ? COUNT_LIMIT : SCATTERED_COUNT_LIMIT;
  const order = isOfOneIndex(filter) && !hasPrice(filter) ? sql`order by i.created_at, i.id` : sql``;
  const statement = sql`
    select count(*)::integer as count from (
      select from items i where ${conditionOf(filter)} and ${isMatched(matched)} ${order} limit ${limit + 1}) counted`;
  const [row] = await db.query<{ count: number }>(plannedAnew(statement));
  const count = row?.count ?? 0;
  return cappedCount(count, limit);
}

/** How many of the first rows have words that are common: all of a small list, "at least" of a large one; null if none has them. */
async function countCommon(
  db: Queryable,
  filter: StockFilter,
  words: WordSearch,
): Promise<{ value: number; isCapped: boolean } | null> {
  const [row] = await db.query<{ walked: number; found: number }>(
    plannedAnew(sql`
      select count(*)::integer as walked, count(*) filter (where ${rowHasWords(words, WORDS)})::integer as found
      from (
        select i.search_words from items i where ${conditionOf(filter)}
        order by i.created_at desc, i.id desc limit ${COUNT_WALK_LIMIT}) i`),
  );
  const { walked = 0, found = 0 } = row ?? {};
  if (walked < COUNT_WALK_LIMIT) return { value: found, isCapped: false };
  return found === 0 ? null : { value: Math.min(rounded(found), SCATTERED_COUNT_LIMIT), isCapped: true };
}

/** "700+" says as much as "738+", and looks less like a count. */
function rounded(count: number): number {
  const step = 10 ** Math.floor(Math.log10(count));
  return Math.floor(count / step) * step;
}

/** Whether one index answers the filter by itself: those of the tabs and of the price do. */
function isOfOneIndex(filter: StockFilter): boolean {
  const { status, isHidden, integrationId, isOnNoChannel, needsWork, brand, locationId } = filter;
  const isScattered = [isHidden, integrationId, brand, locationId].some((value) => value !== undefined);
  const parts = [status !== undefined, isOnNoChannel === true, needsWork === true, hasPrice(filter)];
  return !isScattered && parts.filter((isSet) => isSet).length <= 1;
}

function isSearchAlone({
  status,
  isHidden,
  integrationId,
  isOnNoChannel,
  needsWork,
  brand,
  ...rest
}: StockFilter): boolean {
  const others = [status, isHidden, integrationId, isOnNoChannel, needsWork, brand, rest.locationId];
  return others.every((value) => value === undefined) && !hasPrice(rest);
}

function hasPrice({ priceFrom, priceTo }: Pick<StockFilter, 'priceFrom' | 'priceTo'>): boolean {
  return priceFrom !== undefined || priceTo !== undefined;
}

/** How many items match, to the last one: for the progress of long work and for what a person confirms. */
export async function countAllStock(db: Queryable, filter: StockFilter, until?: string): Promise<number> {
  const condition = sql`${conditionOf(filter)} and ${isMatched(await matchesOf(db, filter))}`;
  const [row] = await db.query<{ count: number }>(
    plannedAnew(sql`select count(*)::integer as count from items i where ${condition} and ${isUntil(until)}`),
  );
  return row?.count ?? 0;
}

function isUntil(id: string | undefined): Sql {
  return id === undefined ? sql`true` : sql`i.id <= ${id}`;
}

/** The ids of all that match, in the order of their ids, for work in batches. */
export async function findStockIds(
  db: Queryable,
  filter: StockFilter,
  { after, until, limit }: { after: string; until?: string; limit: number },
): Promise<string[]> {
  const condition = sql`${conditionOf(filter)} and ${isMatched(await matchesOf(db, filter))}`;
  const statement = sql`
    select i.id from items i
    where ${condition} and i.id > ${after} and ${isUntil(until)} order by i.id limit ${limit}`;
  const rows = await db.query<{ id: string }>(plannedAnew(statement));
  return rows.map((row) => row.id);
}

/** The brands that the dealer has, for a filter's choices. */
export async function listBrands(db: Queryable, organizationId: string, kind: 'listing' | 'part'): Promise<string[]> {
  // Jumps from one brand to the next by the index, instead of reading every item.
  const rows = await db.query<{ brand: string }>(sql`
    with recursive brands as (
      (select attributes ->> 'brand' as brand from items
        where organization_id = ${organizationId} and kind = ${kind} and attributes ->> 'brand' is not null
        order by attributes ->> 'brand' limit 1)
      union all
      select (select attributes ->> 'brand' from items
        where organization_id = ${organizationId} and kind = ${kind} and attributes ->> 'brand' > brands.brand
        order by attributes ->> 'brand' limit 1)
      from brands where brands.brand is not null)
    select brand from brands where brand is not null limit 1000`);
  return rows.map((row) => row.brand);
}

/** The filter but for its search. */
function conditionOf(filter: StockFilter): Sql {
  const conditions = [sql`i.organization_id = ${filter.organizationId} and i.kind = ${filter.kind}`];
  if (filter.status !== undefined) conditions.push(sql`i.stock_status = ${filter.status}`);
  if (filter.isHidden !== undefined) conditions.push(sql`i.is_hidden = ${filter.isHidden}`);
  if (filter.isOnNoChannel === true) conditions.push(sql`i.channel_count = 0`);
  if (filter.needsWork === true) conditions.push(sql`i.missing <> '{}'`);
  if (filter.brand !== undefined) conditions.push(sql`i.attributes ->> 'brand' = ${filter.brand}`);
  if (filter.locationId !== undefined) conditions.push(sql`i.location_id = ${filter.locationId}`);
  if (filter.priceFrom !== undefined) conditions.push(sql`i.price_amount >= ${filter.priceFrom}`);
  if (filter.priceTo !== undefined) conditions.push(sql`i.price_amount <= ${filter.priceTo}`);
  if (filter.integrationId !== undefined) {
    conditions.push(sql`exists (
      select from publications p
      where p.integration_id = ${filter.integrationId} and p.item_id = i.id and p.is_on)`);
  }
  return conditions.reduce((all, one) => sql`${all} and ${one}`);
}

/** What a search finds; null if nothing is searched for. */
export async function matchSearch(
  db: Queryable,
  { organizationId, kind, search = '' }: Pick<StockFilter, 'organizationId' | 'kind' | 'search'>,
): Promise<Matches | null> {
  if (search.trim() === '') return null;
  return await matchWords(db, organizationId, search, {
    table: sql`items`,
    condition: sql`r.organization_id = ${organizationId} and r.kind = ${kind}`,
    order: sql`r.created_at desc, r.id desc`,
  });
}

async function matchesOf(db: Queryable, filter: StockFilter): Promise<Matches | null> {
  return filter.matched === undefined ? await matchSearch(db, filter) : filter.matched;
}

function isMatched(matched: Matches | null): Sql {
  if (matched === null) return sql`true`;
  return 'ids' in matched ? sql`i.id = any(${[...matched.ids]}::text[])` : hasWords(matched.words, WORDS);
}

/** Rows behind a position. A null sorts last going up and first going down, as PostgreSQL has it. */
function behind({ value, cast }: Column, isDescending: boolean, position: StockPosition | null): Sql {
  if (position === null) return sql`true`;
  const comparison = rawSql(isDescending ? '<' : '>');
  if (position.value === null) {
    return isDescending
      ? sql`((${value} is null and i.id ${comparison} ${position.id}) or ${value} is not null)`
      : sql`(${value} is null and i.id ${comparison} ${position.id})`;
  }
  const rows = sql`(${value}, i.id) ${comparison} (${position.value}::${cast}, ${position.id})`;
  return isDescending ? rows : sql`(${rows} or ${value} is null)`;
}
