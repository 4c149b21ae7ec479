import type { Transaction } from '../../db/database.ts';
import { rawSql, type Sql, sql } from '../../db/sql.ts';
import type { ErasedPerson } from './erase-customer.ts';
import { erasedKeyOf } from './erased-key.ts';

/**
 * Texts that may quote a person without being about one: what receivers answered, logged requests, notes, imported files.
 * They are searched for the person's emails and phones. A name alone is not looked for: it may be a watch's.
 */
export type SearchedTable = {
  table: string;
  /** Whose rows one walk reads, and what its owners are. */
  owner: { column: string; of: 'integrations' | 'organization' | 'files' | 'jobs' };
  /** Behind the owner, the order in which an index has the rows. */
  key: readonly { column: string; type: 'text' | 'integer' | 'timestamptz' }[];
  columns: readonly { column: string; becomes: Becomes }[];
  /** What changes with a row besides. */
  also?: string;
};

/**
 * Without contacts and words; JSON whose strings are without them; nothing at all; a digest; or (of a list of cells) with those
 * cells empty that have a contact. Of an answer that is kept as text only contacts go: a word may be the name of a field or a
 * status, which a client that asks again must find as it was.
 */
type Becomes = 'text' | 'json' | 'answer' | 'null' | 'digest' | 'cells';

const text = (column: string) => ({ column, type: 'text' }) as const;
const integer = (column: string) => ({ column, type: 'integer' }) as const;
const OF_INTEGRATIONS = { column: 'integration_id', of: 'integrations' } as const;
const OF_ORGANIZATION = { column: 'organization_id', of: 'organization' } as const;

export const SEARCHED_TABLES: readonly SearchedTable[] = [
  {
    table: 'deliveries',
    owner: OF_INTEGRATIONS,
    key: [text('id')],
    columns: [
      { column: 'last_response_body', becomes: 'null' },
      { column: 'last_error', becomes: 'text' },
    ],
  },
  {
    table: 'delivery_attempts',
    owner: OF_INTEGRATIONS,
    key: [text('delivery_id'), integer('dispatch')],
    columns: [
      { column: 'response_body', becomes: 'null' },
      { column: 'error', becomes: 'text' },
    ],
  },
  {
    table: 'reservations',
    owner: OF_INTEGRATIONS,
    key: [text('id')],
    columns: [{ column: 'reference', becomes: 'null' }],
  },
  {
    table: 'idempotency_records',
    owner: OF_INTEGRATIONS,
    key: [text('key')],
    columns: [
      { column: 'key', becomes: 'digest' },
      { column: 'body', becomes: 'answer' },
    ],
  },
  {
    table: 'api_requests',
    owner: OF_INTEGRATIONS,
    key: [{ column: 'at', type: 'timestamptz' }, text('request_id')],
    columns: [
      { column: 'query', becomes: 'text' },
      { column: 'idempotency_key', becomes: 'text' },
      { column: 'ignored_fields', becomes: 'text' },
    ],
  },
  {
    table: 'audit_log',
    owner: OF_ORGANIZATION,
    key: [text('id')],
    columns: [
      { column: 'old_values', becomes: 'json' },
      { column: 'new_values', becomes: 'json' },
    ],
  },
  {
    table: 'audit_log_objects',
    owner: OF_ORGANIZATION,
    key: [text('audit_id'), text('object_id')],
    columns: [
      { column: 'old_values', becomes: 'json' },
      { column: 'new_values', becomes: 'json' },
    ],
  },
  {
    table: 'items',
    owner: OF_ORGANIZATION,
    key: [text('id')],
    columns: [{ column: 'private_notes', becomes: 'text' }],
    // A form that was filled before would write the old notes again.
    also: 'revision = revision + 1',
  },
  {
    table: 'saved_views',
    owner: OF_ORGANIZATION,
    key: [text('id')],
    columns: [
      { column: 'name', becomes: 'text' },
      { column: 'query', becomes: 'text' },
    ],
  },
  {
    table: 'stock_jobs',
    owner: OF_ORGANIZATION,
    key: [text('id')],
    columns: [
      { column: 'title', becomes: 'text' },
      { column: 'parameters', becomes: 'json' },
      { column: 'error', becomes: 'text' },
    ],
  },
  {
    table: 'stock_job_errors',
    owner: { column: 'job_id', of: 'jobs' },
    key: [integer('number')],
    columns: [{ column: 'message', becomes: 'text' }],
  },
  {
    table: 'stock_files',
    owner: OF_ORGANIZATION,
    key: [text('id')],
    columns: [
      { column: 'name', becomes: 'text' },
      { column: 'zip_name', becomes: 'text' },
    ],
  },
  {
    table: 'stock_file_lines',
    owner: { column: 'file_id', of: 'files' },
    key: [integer('number')],
    columns: [{ column: 'cells', becomes: 'cells' }],
  },
];

const ROWS_LIMIT = 1_000;
/** Of texts that one batch searches: some rows hold the answer to a thousand customers at once. */
const SEARCHED_BYTES = 4_194_304;
const ERASED = '[erased]';

/** The key of a row behind its owner. */
export type SearchPosition = readonly unknown[];

/**
 * Takes the person's contacts out of some rows of one owner, those after a position. Returns where the next batch begins;
 * null if no more rows are left.
 */
export async function eraseInBatch(
  tx: Transaction,
  table: SearchedTable,
  ownerId: string,
  patterns: SearchPatterns,
  after: SearchPosition | null,
): Promise<{ changed: number; lookedAt: number; position: SearchPosition | null }> {
  const name = rawSql(table.table);
  const key = keyOf(table);
  // As a range: if the owner were one value, the order would be that of the rest of the key, and the planner could take an
  // index of times alone, which has the rows of everybody.
  const owner = rawSql(table.owner.column);
  const owned = sql`${owner} >= ${ownerId} and ${owner} <= ${ownerId}`;
  const from = after === null ? sql`true` : sql`(${key}) > (${keyValues(table, ownerId, after)})`;
  const { lookedAt, position } = await batchEnd(tx, table, sql`${owned} and ${from}`);
  const until = position === null ? sql`true` : sql`(${key}) <= (${keyValues(table, ownerId, position)})`;
  const [row] = await tx.query<{ changed: number }>(sql`
    with changed as (
      update ${name} set ${assignments(table, patterns)}
      where ${owned} and ${from} and ${until} and ${quotes(table, patterns)} returning 1)
    select count(*) as changed from changed`);
  return { changed: row?.changed ?? 0, lookedAt, position };
}

/** How many rows make a batch, and the last of them; null if they are all that is left. */
async function batchEnd(
  tx: Transaction,
  table: SearchedTable,
  which: Sql,
): Promise<{ lookedAt: number; position: SearchPosition | null }> {
  const key = keyOf(table);
  const texts = rawSql(table.key.map(({ column }) => `${column}::text`).join(', '));
  // The size of a stored value is known without reading it.
  const bytes = rawSql(table.columns.map(({ column }) => `coalesce(pg_column_size(${column}), 0)`).join(' + '));
  const [last] = await tx.query<{ number: number; key: string[]; found: number }>(sql`
    select number, key, found from (
      select row_number() over so_far as number, count(*) over () as found, array[${texts}] as key,
        sum(bytes) over so_far - bytes as bytes_before
      from (select ${key}, ${bytes} as bytes from ${rawSql(table.table)} where ${which} order by ${key} limit ${ROWS_LIMIT}) page
      window so_far as (order by ${key} rows unbounded preceding)) numbered
    where bytes_before < ${SEARCHED_BYTES} order by number desc limit 1`);
  if (last === undefined) return { lookedAt: 0, position: null };
  const isEnd = last.number === last.found && last.found < ROWS_LIMIT;
  return { lookedAt: last.number, position: isEnd ? null : last.key };
}

/** With the owner in front, as an index has it. */
function keyOf({ owner, key }: SearchedTable): Sql {
  return rawSql([owner.column, ...key.map(({ column }) => column)].join(', '));
}

function keyValues({ key }: SearchedTable, ownerId: string, position: SearchPosition): Sql {
  const values = key.map(({ type }, index) => sql`${position[index]}::${rawSql(type)}`);
  return values.reduce((all, one) => sql`${all}, ${one}`, sql`${ownerId}`);
}

function quotes({ columns }: SearchedTable, { contacts }: SearchPatterns): Sql {
  const found = columns.map(({ column, becomes }) =>
    becomes === 'cells'
      ? sql`array_to_string(${rawSql(column)}, ' ') ~* ${contacts}`
      : sql`${rawSql(column)}::text ~* ${contacts}`,
  );
  return sql`(${found.reduce((all, one) => sql`${all} or ${one}`)})`;
}

function assignments({ columns, also }: SearchedTable, patterns: SearchPatterns): Sql {
  const set = columns.map(({ column, becomes }) => sql`${rawSql(column)} = ${replaced(column, becomes, patterns)}`);
  const all = also === undefined ? set : [...set, rawSql(also)];
  return all.reduce((before, one) => sql`${before}, ${one}`);
}

function replaced(column: string, becomes: Becomes, { contacts, words }: SearchPatterns): Sql {
  const name = rawSql(column);
  const withoutContacts = sql`regexp_replace(${name}, ${contacts}, ${ERASED}, 'gi')`;
  switch (becomes) {
    case 'null':
      return sql`case when ${name} ~* ${contacts} then null else ${name} end`;
    case 'digest':
      return sql`case when ${name} ~* ${contacts} then ${erasedKeyOf(name)} else ${name} end`;
    case 'json':
      return sql`replace_in_json(${name}, ${contacts}, ${words}, ${ERASED})`;
    case 'answer':
      return withoutContacts;
    case 'cells':
      return sql`array(
        select case when cell ~* ${contacts} then '' else cell end
        from unnest(${name}) with ordinality as cells (cell, number) order by number)`;
    case 'text':
      return sql`regexp_replace(${withoutContacts}, ${words}, ${ERASED}, 'gi')`;
  }
}

/** Regular expressions of PostgreSQL. Words are replaced only in rows that also have a contact. */
export type SearchPatterns = { contacts: string; words: string };

const NOTHING = '(?!)';

/** Null if the person had neither an email nor a phone. */
export function patternsOf({ contacts, words }: ErasedPerson): SearchPatterns | null {
  if (contacts.length === 0) return null;
  return { contacts: anyOf(contacts), words: words.length === 0 ? NOTHING : anyOf(words) };
}

/** Not as a part of a longer one: anna@b.ch is not a@b.ch. */
function anyOf(texts: string[]): string {
  const forms = texts.flatMap((one) => [one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one)]);
  const escaped = [...new Set(forms)].map((form) => form.replaceAll(/[^\p{L}\p{N}]/gu, '\\$&'));
  return `(?<![[:alnum:]._-])(?:${escaped.join('|')})(?![[:alnum:]_-]|\\.[[:alnum:]])`;
}
