import { type CappedCount, cappedCount, LONG_LIST_COUNT_LIMIT } from '../contract/dashboard/list.ts';
import type { Queryable } from '../db/database.ts';
import { hasWords, type Matches, rowHasWords, type WordSearch } from '../db/search-words.ts';
import { plannedAnew, rawSql, type Sql, sql } from '../db/sql.ts';

/**
 * Lists of orders and sales across a dealer's channels. Both tables have an index on (organization, channel, status, mode,
 * time, id). A list reads one page from each combination that it wants, from its own end of that index, and merges them: a
 * few hundred rows at most, however many rows of other channels, statuses or modes lie between.
 */
export type ListedTable = { table: 'orders' | 'sales'; channelColumn: 'integration_id' | 'channel' };

export type ListedFilter = {
  organizationId: string;
  /** Null is every channel. */
  channel: string | null;
  statuses: readonly string[];
  /** Which modes: live, test or both. */
  isTest: readonly boolean[];
  from: Date | null;
  to: Date | null;
  /** What a search has found: few rows by their ids, or many by their words; null is all. */
  found: Matches | null;
};

/** The time of a row, as text, and its id. */
export type ListedPosition = { value: string | null; id: string };

export type ListedPage = ListedFilter & {
  isDescending: boolean;
  /** Rows behind a position or, read backwards, before it. */
  start: { position: ListedPosition; isBackwards: boolean } | null;
  limit: number;
};

/** For a common word fewer rows are counted: the list says "100+". */
const COMMON_COUNT_LIMIT = 100;

/** A common word is looked for in so many rows of the list, before the index is asked for all that have it. */
const WALK_LIMIT = 500;

/**
 * Reads a page of rows by their ids. A common word fills it from the first rows of the list; the index of words would
 * find every match and sort them.
 */
export async function readListed<Row>(
  of: ListedTable,
  page: ListedPage,
  read: (ids: Sql) => Promise<Row[]>,
): Promise<Row[]> {
  if (page.found === null || 'ids' in page.found) return await read(listedRows(of, page));
  const { words } = page.found;
  const rows = await read(walkedRows(of, page, words));
  if (rows.length === page.limit) return rows;
  return await read(words.isCommon ? listedRows(of, page) : sortedMatches(of, page, words));
}

/** All that the index finds, sorted: those that have the words are not among the first rows of the list. */
function sortedMatches(of: ListedTable, page: ListedPage, words: WordSearch): Sql {
  const direction = rawSql(readsDescending(page) ? 'desc' : 'asc');
  return sql`
    with matches as materialized (
      select r.id, r.${channelOf(of)} as channel, r.created_at from ${rawSql(of.table)} r
      where ${hasWords(words, WORDS)} and ${inAnyGroup(of, page)} ${behindStart(page)})
    select id, channel, created_at from matches order by created_at ${direction}, id ${direction} limit ${page.limit}`;
}

/** Those that have the words among the first rows of the list. Row by row, so that the walk ends when the page is full. */
function walkedRows(of: ListedTable, page: ListedPage, words: WordSearch): Sql {
  const direction = rawSql(readsDescending(page) ? 'desc' : 'asc');
  return sql`
    select walked.id, walked.channel, walked.created_at
    from (${listedRows(of, { ...page, found: null, limit: WALK_LIMIT })}) walked
    cross join lateral (
      select from ${rawSql(of.table)} r
      where r.${channelOf(of)} = walked.channel and r.id = walked.id and ${rowHasWords(words, WORDS)}
      limit 1) matching
    order by walked.created_at ${direction}, walked.id ${direction} limit ${page.limit}`;
}

/** Rows with `id`, `channel` and `created_at`, in the direction in which they are read. */
export function listedRows(of: ListedTable, page: ListedPage): Sql {
  const direction = rawSql(readsDescending(page) ? 'desc' : 'asc');
  const behind = behindStart(page);
  const order = sql`created_at ${direction}, id ${direction}`;
  if (page.found !== null && 'ids' in page.found) {
    return sql`
      select r.id, r.${channelOf(of)} as channel, r.created_at from ${rawSql(of.table)} r
      where ${hasId(page.found.ids)} and ${inAnyGroup(of, page)} ${behind} order by ${order} limit ${page.limit}`;
  }
  return sql`
    select merged.id, merged.channel, merged.created_at from (${groupsOf(of, page)}) groups
    cross join lateral (
      select r.id, r.${channelOf(of)} as channel, r.created_at from ${rawSql(of.table)} r
      where ${inGroup(of, page)} ${behind} order by ${order} limit ${page.limit}) merged
    order by ${order} limit ${page.limit}`;
}

function behindStart(page: ListedPage): Sql {
  if (page.start === null) return sql``;
  const { value, id } = page.start.position;
  const comparison = rawSql(readsDescending(page) ? '<' : '>');
  return sql`and (r.created_at, r.id) ${comparison} (${value}::timestamptz, ${id})`;
}

export function readsDescending({ isDescending, start }: Pick<ListedPage, 'isDescending' | 'start'>): boolean {
  return isDescending !== (start?.isBackwards ?? false);
}

/** How many rows match; counting stops at a limit. */
export async function countListed(db: Queryable, of: ListedTable, filter: ListedFilter): Promise<CappedCount> {
  const { found } = filter;
  const words = found !== null && 'words' in found ? found.words : null;
  if (words !== null && (await isCommon(db, of, filter, words))) return { value: COMMON_COUNT_LIMIT, isCapped: true };
  const limit = LONG_LIST_COUNT_LIMIT + 1;
  const byIndex = found === null ? null : 'ids' in found ? hasId(found.ids) : words && hasWords(words, WORDS);
  const rows =
    byIndex !== null
      ? sql`select from ${rawSql(of.table)} r where ${byIndex} and ${inAnyGroup(of, filter)} limit ${limit}`
      : sql`
        select from (${groupsOf(of, filter)}) groups
        cross join lateral (
          select from ${rawSql(of.table)} r where ${inGroup(of, filter)}
          -- In the order of the index: without it, the server expects to find enough rows anywhere in the table.
          order by r.created_at desc, r.id desc limit ${limit}) rows
        limit ${limit}`;
  const [row] = await db.query<{ count: number }>(
    plannedAnew(sql`select count(*)::integer as count from (${rows}) counted`),
  );
  const count = row?.count ?? 0;
  return cappedCount(count, LONG_LIST_COUNT_LIMIT);
}

/** Whether the first rows of the list have the words often: then counting them further would read most of the table. */
async function isCommon(db: Queryable, of: ListedTable, filter: ListedFilter, words: WordSearch): Promise<boolean> {
  const page = { ...filter, isDescending: true, start: null, limit: COMMON_COUNT_LIMIT + 1 };
  const [row] = await db.query<{ count: number }>(
    plannedAnew(sql`select count(*)::integer as count from (${walkedRows(of, page, words)}) counted`),
  );
  return (row?.count ?? 0) > COMMON_COUNT_LIMIT;
}

const WORDS = sql`r.search_words`;

function channelOf({ channelColumn }: ListedTable): Sql {
  return rawSql(channelColumn);
}

/** The combinations that are wanted. The dealer's channels are found by jumping from one to the next in the index. */
function groupsOf(of: ListedTable, { organizationId, channel, statuses, isTest }: ListedFilter): Sql {
  const [table, column] = [rawSql(of.table), channelOf(of)];
  const channels =
    channel !== null
      ? sql`select ${channel}::text as channel`
      : sql`
        with recursive channels as (
          (select r.${column} as channel from ${table} r where r.organization_id = ${organizationId}
            order by r.${column} limit 1)
          union all
          select (select r.${column} from ${table} r
            where r.organization_id = ${organizationId} and r.${column} > channels.channel
            order by r.${column} limit 1)
          from channels where channels.channel is not null)
        select channel from channels where channel is not null`;
  return sql`
    select own.channel, wanted.status, modes.is_test from (${channels}) own
    cross join unnest(${[...statuses]}::text[]) as wanted (status)
    cross join unnest(${[...isTest]}::boolean[]) as modes (is_test)`;
}

function inGroup(of: ListedTable, { organizationId, from, to, found }: ListedFilter): Sql {
  const matching =
    found !== null && 'words' in found ? sql`and r.search_words @@ ${found.words.query}::tsquery` : sql``;
  return sql`
    r.organization_id = ${organizationId} and r.${channelOf(of)} = groups.channel and r.status = groups.status
    and r.is_test = groups.is_test ${between(from, to)} ${matching}`;
}

/** Rows that were found by something else, if they are of a wanted combination. */
function inAnyGroup(of: ListedTable, filter: ListedFilter): Sql {
  const { organizationId, channel, statuses, isTest, from, to } = filter;
  const onChannel = channel === null ? sql`` : sql`and r.${channelOf(of)} = ${channel}`;
  return sql`
    r.organization_id = ${organizationId} and r.status = any(${[...statuses]}::text[])
    and r.is_test = any(${[...isTest]}::boolean[]) ${onChannel} ${between(from, to)}`;
}

function hasId(ids: readonly string[]): Sql {
  return sql`r.id = any(${[...ids]}::text[])`;
}

function between(from: Date | null, to: Date | null): Sql {
  const since = from === null ? sql`` : sql`and r.created_at >= ${from}`;
  const until = to === null ? sql`` : sql`and r.created_at < ${to}`;
  return sql`${since} ${until}`;
}
