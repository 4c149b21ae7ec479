import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { byIndex } from './by-index.ts';
import type { Claimed } from './claim.ts';

export type ReleasedClaim = Pick<Claimed, 'id' | 'row' | 'leaseToken'>;

/** Gives back what was claimed and not sent: it is as if the claim had never been, and any worker may take it at once. */
export async function releaseClaims(db: Database, returned: ReleasedClaim[]): Promise<void> {
  await byIndex(
    db,
    sql`
    update deliveries d set lease_token = null, leased_until = null, takeovers = 0, dispatches = d.dispatches - 1
    from unnest(
      ${returned.map((claim) => claim.row)}::tid[], ${returned.map((claim) => claim.id)}::text[],
      ${returned.map((claim) => claim.leaseToken)}::bigint[]) as rows (row, id, token)
    where d.ctid = rows.row and d.id = rows.id and d.lease_token = rows.token`,
  );
}
