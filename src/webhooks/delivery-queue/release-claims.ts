import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { byIndex } from './by-index.ts';
import type { Claimed } from './claim.ts';

export type ReleasedClaim = Pick<Claimed, 'id' | 'ctid' | 'leaseToken'>;

/** Releases what was claimed and not sent: as if the claim had never been made, and any worker may take it at once. */
export async function releaseClaims(db: Database, claims: ReleasedClaim[]): Promise<void> {
  await byIndex(
    db,
    sql`
    update deliveries d set lease_token = null, leased_until = null, takeovers = 0, dispatches = d.dispatches - 1
    from unnest(
      ${claims.map((claim) => claim.ctid)}::tid[], ${claims.map((claim) => claim.id)}::text[],
      ${claims.map((claim) => claim.leaseToken)}::bigint[]) as released (row_ctid, id, token)
    where d.ctid = released.row_ctid and d.id = released.id and d.lease_token = released.token`,
  );
}
