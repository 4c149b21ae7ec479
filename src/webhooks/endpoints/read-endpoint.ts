import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Endpoint } from '../outbox.ts';

/**
 * What the outbox needs to record an event, also while the integration is detached: without an organization nothing is
 * projected, but what happens to its orders must be recorded and held. Null if there is no such integration.
 */
export async function readEndpoint(db: Queryable, integrationId: string): Promise<Endpoint | null> {
  const [row] = await db.query<Endpoint>(sql`
    select i.id as "integrationId", i.organization_id as "organizationId", i.api_version as "apiVersion", i.is_test_mode as "isTestMode", e.url,
      e.subscribed_events as subscriptions, r.is_sending as "isSending"
    from integrations i
    join webhook_endpoints e on e.integration_id = i.id
    join webhook_endpoint_states r on r.integration_id = i.id
    where i.id = ${integrationId}`);
  return row ?? null;
}
