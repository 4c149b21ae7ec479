import type { Database, Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { countDisabled, listChannels } from '../dealers/integrations/integrations.ts';
import { countUnpriceable } from '../dealers/rates/missing-rates.ts';
import { countFailedJobs } from '../inventory/jobs/stock-job-queue.ts';
import { countConflicts } from '../sales/customers/customer-conflicts.ts';
import { countDealerDeliveries, EVERY_DELIVERY } from '../webhooks/dealer/list-deliveries.ts';
import { countEndpointsOff } from '../webhooks/endpoints/endpoint-status.ts';

/** Each count is capped: beyond it a badge says "99+". */
const COUNT_LIMIT = 100;

type Counter = (db: Database, organizationId: string, limit: number) => Promise<number>;

/**
 * What needs attention, by the name of the navigation's entry that shows it; the last three are on the home page alone. A
 * page that brings a count adds its counter here; dashboard/src/shell/navigation/badges.ts names the kinds of changes after
 * which counts are read anew.
 */
const COUNTERS: Readonly<Record<string, Counter>> = {
  orders: countOrdersReceived,
  customers: (db, organizationId, limit) => countConflicts(db, organizationId, [false], limit),
  integrations: countEndpointsOff,
  deliveries: countDeadLetters,
  unpriceable: countUnpriceable,
  failed_jobs: countFailedJobs,
  disabled: countDisabled,
};

export async function countBadges(db: Database, organizationId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [name, count] of Object.entries(COUNTERS)) counts[name] = await count(db, organizationId, COUNT_LIMIT);
  return counts;
}

async function countDeadLetters(db: Database, organizationId: string, limit: number): Promise<number> {
  const integrationIds = (await listChannels(db, organizationId)).map(({ id }) => id);
  const filter = { ...EVERY_DELIVERY, integrationIds, statuses: ['dead_letter' as const] };
  return (await countDealerDeliveries(db, filter, limit)).value;
}

async function countOrdersReceived(db: Queryable, organizationId: string, limit: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::integer as count from (
      select from orders where organization_id = ${organizationId} and status = 'received' and not is_test
      limit ${limit}) found`);
  return row?.count ?? 0;
}
