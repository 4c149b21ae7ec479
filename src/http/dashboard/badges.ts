import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { countEndpointsOff } from '../../webhooks/endpoints/endpoint-status.ts';

/**
 * Counts of what needs attention, by the name of the navigation's entry that shows them. Each is capped: beyond it a badge
 * says "99+". A page that brings a count adds it here.
 */
const COUNT_LIMIT = 100;

export async function countBadges(db: Queryable, organizationId: string): Promise<Record<string, number>> {
  const [counts] = await db.query<{ orders: number }>(sql`
    select (select count(*) from (
      select from orders where organization_id = ${organizationId} and status = 'received' and not is_test
      limit ${COUNT_LIMIT}) found) as orders`);
  return { orders: counts?.orders ?? 0, integrations: await countEndpointsOff(db, organizationId, COUNT_LIMIT) };
}
