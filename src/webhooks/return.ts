import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { byIndex } from './by-index.ts';
import type { Claimed } from './claim.ts';

export type Returned = Pick<Claimed, 'integrationId' | 'id' | 'leaseToken'>;

/** Gives back what was claimed and not sent: it is as if the claim had never been, and any worker may take it at once. */
export async function returnClaims(db: Database, returned: Returned[]): Promise<void> {
  await byIndex(
    db,
    sql`
    update deliveries d set lease_token = null, leased_until = null, takeovers = 0, dispatches = d.dispatches - 1
    from unnest(
      ${returned.map((row) => row.integrationId)}::text[], ${returned.map((row) => row.id)}::text[],
      ${returned.map((row) => row.leaseToken)}::bigint[]) as rows (integration_id, id, token)
    cross join lateral (
      select f.ctid as row from deliveries f
      where f.integration_id = rows.integration_id and f.id = rows.id and f.lease_token = rows.token limit 1) found
    where d.ctid = found.row and d.lease_token = rows.token`,
  );
}
