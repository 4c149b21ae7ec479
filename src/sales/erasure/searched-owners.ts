import type { Queryable } from '../../db/database.ts';
import { rawSql, type Sql, sql } from '../../db/sql.ts';
import { integrationsOfDealer } from '../../dealers/integrations/integrations.ts';
import type { SearchedTable } from './searched-texts.ts';

/** Whose rows of a table are a dealer's, in the order in which they are walked through. */
export async function ownersOf(db: Queryable, { owner }: SearchedTable, organizationId: string): Promise<string[]> {
  switch (owner.of) {
    case 'organization':
      return [organizationId];
    case 'integrations':
      return (await integrationsOfDealer(db, organizationId)).sort();
    case 'files':
      return await idsOf(db, rawSql('stock_files'), organizationId);
    case 'jobs':
      return await idsOf(db, rawSql('stock_jobs'), organizationId);
  }
}

async function idsOf(db: Queryable, table: Sql, organizationId: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`select id from ${table} where organization_id = ${organizationId}`);
  return rows.map(({ id }) => id).sort();
}
