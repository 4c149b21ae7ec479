import assert from 'node:assert/strict';
import pg from 'pg';
import type { Database, Queryable, Transaction } from '../../../src/db/database.ts';
import type { Sql } from '../../../src/db/sql.ts';
import { BinaryArray } from '../../../src/db/values/binary-array.ts';
import { parameterOf } from '../../../src/db/values/parameters.ts';

/** A statement that was explained while it ran: how many pages of tables and indexes it read, and by which plan. */
export type Explained = { pages: number; plan: object; text: string };

/** Explains a statement as the server would run it in this session, then runs it. */
export async function explain<Row>(
  session: pg.Client,
  { text, values }: Pick<Sql, 'text' | 'values'>,
  onExplained: (explained: Explained) => void,
): Promise<Row[]> {
  const literals = values.map(literal).join(', ');
  await session.query(`prepare explained as ${text}`);
  const { rows } = await session.query(
    `explain (analyze, buffers, timing off, format json) execute explained${literals === '' ? '' : `(${literals})`}`,
  );
  await session.query('deallocate explained');
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
  onExplained({ pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], plan, text });
  const result = await session.query(text, values.map(parameterOf));
  return result.rows as Row[];
}

/** Runs a read whose every statement is explained, planned as the service plans it: those without a name for their values. */
export async function explainRead(db: Database, read: (db: Database) => Promise<unknown>): Promise<Explained[]> {
  const session = await db.connect();
  const seen: Explained[] = [];
  const query: Queryable['query'] = async (statement) =>
    await explain(session, statement, (explained) => seen.push(explained));
  const set = async (settings: string[]) => {
    for (const setting of settings) await session.query(`set ${setting}`);
  };
  const explaining: Database = {
    ...db,
    async query(statement) {
      await set([`plan_cache_mode = ${statement.name === undefined ? 'force_custom_plan' : 'auto'}`]);
      return await query(statement);
    },
    async transaction(work, { planning } = {}) {
      const scans = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan'];
      if (planning !== undefined) await set(['plan_cache_mode = force_generic_plan']);
      if (planning === 'by index') await set(scans.map((scan) => `${scan} = off`));
      try {
        const last: Transaction['queryLast'] = (statement) => query(statement);
        const defer = () => assert.fail('a read writes nothing');
        return await work({ query, queryLast: last, defer, flush: async () => {}, isTransaction: true });
      } finally {
        await set([...scans, 'plan_cache_mode'].map((name) => `${name} to default`));
      }
    },
  };
  try {
    await read(explaining);
  } finally {
    await session.end();
  }
  return seen;
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof BinaryArray) return literal(value.elements);
  if (Array.isArray(value)) return value.length === 0 ? `'{}'` : `array[${value.map(literal).join(', ')}]`;
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString());
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : pg.escapeLiteral(String(value));
}
