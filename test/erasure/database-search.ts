import type { Database } from '../../src/db/database.ts';
import { rawSql, sql } from '../../src/db/sql.ts';

/** Where some words stand in the database, whatever the case: `table.column: n rows`. It looks at every column of text. */
export async function searchDatabase(db: Database, words: string[]): Promise<string[]> {
  const columns = await db.query<{ table: string; column: string; type: string }>(sql`
    select c.table_name as table, c.column_name as column, c.udt_name as type
    from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
      and c.udt_name in ('text', '_text', 'varchar', 'json', 'jsonb', 'bytea', 'tsvector')
    order by c.table_name, c.ordinal_position`);
  const found: string[] = [];
  for (const { table, column, type } of columns) {
    const name = rawSql(`"${column}"`);
    const text = type === 'bytea' ? sql`encode(${name}, 'escape')` : sql`${name}::text`;
    const [row] = await db.query<{ count: number }>(sql`
      select count(*)::integer as count from ${rawSql(`"${table}"`)}
      where ${text} ilike any(${words.map((word) => `%${word}%`)}::text[])`);
    if ((row?.count ?? 0) > 0) found.push(`${table}.${column}: ${row?.count} rows`);
  }
  return found;
}
