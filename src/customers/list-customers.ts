import { type CappedCount, cappedCount, LONG_LIST_COUNT_LIMIT } from '../contract/dashboard/list.ts';
import type { Queryable } from '../db/database.ts';
import { hasWords, type Matches, matchWords, rowHasWords } from '../db/search-words.ts';
import { plannedAnew, rawSql, type Sql, sql } from '../db/sql.ts';
import { parsePhone } from './customer-draft.ts';
import type { CustomerName } from './customer-names.ts';

/** The customers of a dealer as the dealer's list shows them, newest first or last. */

export type CustomerFilter = {
  organizationId: string;
  /** The dealer's channels, whose external ids are searched. */
  integrationIds: readonly string[];
  /** Live customers, test customers, or both. */
  isTest: readonly boolean[];
  /** Words of the name, company, email or phone, an external id, or the customer's own id. */
  search: string;
  /** The dealer's country, for a phone that is typed without its country code. */
  country: string | null;
};

export type CustomerPage = CustomerFilter & {
  isDescending: boolean;
  start: { position: { id: string }; isBackwards: boolean } | null;
  limit: number;
};

export type ListedCustomer = CustomerName & { createdAt: Date };

const PHONE = /^[+\d][\d\s()./-]{3,}$/;
/** Of the external ids that begin with what was typed; more say too little. */
const FOUND_LINKS_LIMIT = 200;

export async function listCustomers(db: Queryable, page: CustomerPage): Promise<ListedCustomer[]> {
  const { start, limit } = page;
  const isBackwards = start?.isBackwards ?? false;
  const isDescending = page.isDescending !== isBackwards;
  const direction = rawSql(isDescending ? 'desc' : 'asc');
  const behind = start === null ? sql`` : sql`and c.id ${rawSql(isDescending ? '<' : '>')} ${start.position.id}`;
  const rows = await db.query<ListedCustomer>(
    plannedAnew(sql`
      select c.id, c.is_test as "isTest", c.first_name as "firstName", c.last_name as "lastName", c.company, c.email,
        c.phone, c.created_at as "createdAt"
      from customers c where ${matching(page, await foundBy(db, page))} ${behind}
      order by c.id ${direction} limit ${limit}`),
  );
  return isBackwards ? rows.reverse() : rows;
}

/** How many customers match; counting stops at a limit. */
export async function countCustomers(db: Queryable, filter: CustomerFilter): Promise<CappedCount> {
  const found = await foundBy(db, filter);
  const [row] = await db.query<{ count: number }>(
    plannedAnew(sql`
      select count(*)::integer as count from (
        select from customers c where ${matching(filter, found)} limit ${LONG_LIST_COUNT_LIMIT + 1}) counted`),
  );
  const count = row?.count ?? 0;
  return cappedCount(count, LONG_LIST_COUNT_LIMIT);
}

function matching({ organizationId, isTest }: CustomerFilter, found: Matches | null): Sql {
  const [mode] = isTest;
  // Both modes together are read by the index that has no mode.
  const ofMode = isTest.length === 1 ? sql`and c.is_test = ${mode}` : sql``;
  return sql`c.organization_id = ${organizationId} and c.erased_at is null ${ofMode} ${narrowing(found)}`;
}

function narrowing(found: Matches | null): Sql {
  if (found === null) return sql``;
  if ('ids' in found) return sql`and c.id = any(${[...found.ids]}::text[])`;
  const { words } = found;
  const column = sql`c.search_words`;
  // For words that many customers have, the first rows of the list are enough.
  return sql`and ${words.isCommon ? rowHasWords(words, column) : hasWords(words, column)}`;
}

async function foundBy(db: Queryable, filter: CustomerFilter): Promise<Matches | null> {
  const search = filter.search.replaceAll('\0', '').trim();
  if (search === '') return null;
  if (/^cus_\w{26}$/.test(search)) return { ids: [search] };
  const byWords = await matchWords(db, filter.organizationId, search, {
    table: sql`customers`,
    condition: sql`r.organization_id = ${filter.organizationId}`,
    order: sql`r.id desc`,
    hasPhones: true,
  });
  if ('words' in byWords) return byWords;
  const byKeys = [...(await idsByPhone(db, filter, search)), ...(await idsByLink(db, filter, search))];
  return { ids: [...new Set([...byWords.ids, ...byKeys])] };
}

/** A phone as people of the dealer's country write it. */
async function idsByPhone(db: Queryable, filter: CustomerFilter, search: string): Promise<string[]> {
  const phone = PHONE.test(search) ? parsePhone(search, filter.country) : null;
  if (phone === null) return [];
  const rows = await db.query<{ id: string }>(sql`
    select id from customers
    where organization_id = ${filter.organizationId} and is_test = any('{f,t}') and phone = ${phone}`);
  return rows.map(({ id }) => id);
}

/** What a channel calls a customer, or how that begins. */
async function idsByLink(db: Queryable, filter: CustomerFilter, search: string): Promise<string[]> {
  const beginning = `${search.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const rows = await db.query<{ id: string }>(
    plannedAnew(sql`
      select customer_id as id from customer_external_ids
      where integration_id = any(${[...filter.integrationIds]}::text[]) and is_test = any('{f,t}')
        and external_id like ${beginning} limit ${FOUND_LINKS_LIMIT}`),
  );
  return rows.map(({ id }) => id);
}
