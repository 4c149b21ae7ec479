import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { byIndex } from './by-index.ts';
import type { Claimed } from './claim.ts';

export type ReleasedClaim = Pick<Claimed, 'id' | 'ctid' | 'leaseToken'>;

/** Releases what was claimed and not sent: as if the claim had never been made, and any worker may take it at once. */
export async function releaseClaims(db: Database, claims: ReleasedClaim[]): Promise<void> {
  await byIndex(
    db,
    sql`
    update deliveries d set lease_token = null, leased_until = null, takeovers = 0, dispatches = d.dispatches - 1
    from ${unnestRows('released', claims, { ctid: 'tid', id: 'text', leaseToken: 'bigint' })}
    where d.ctid = released.ctid and d.id = released.id and d.lease_token = released.lease_token`,
  );
}
