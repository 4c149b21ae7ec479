import { RATE_LIMIT_DEFAULT } from '../../contract/limits.ts';
import type { Integration } from '../../contract/resources/integration.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

type ProfileRow = {
  id: string;
  user_id: string | null;
  organization_id: string;
  name: string;
  is_enabled: boolean;
  is_test_mode: boolean;
  api_version: string;
  currency: string;
  rate_limit_override: number | null;
  subscribed_events: string[];
  webhook_url: string | null;
  is_webhook_enabled: boolean;
  last_success_at: Date | null;
  last_failure_at: Date | null;
  consecutive_failures: number;
};

/** The integration as its own client sees it. */
export async function findIntegrationProfile(db: Queryable, integrationId: string): Promise<Integration> {
  const [row] = await db.query<ProfileRow>(sql`
    select i.id, i.user_id, i.organization_id, i.name, i.is_enabled, i.is_test_mode, i.api_version, i.currency,
      i.rate_limit_override, e.subscribed_events, e.url as webhook_url, e.is_enabled as is_webhook_enabled,
      e.last_success_at, e.last_failure_at, e.consecutive_failures
    from integrations i
    join webhook_endpoints e on e.integration_id = i.id
    where i.id = ${integrationId}`);
  if (row === undefined) throw new Error(`integration ${integrationId} is gone`);
  return {
    object: 'integration',
    id: row.id,
    user_id: row.user_id,
    organization_id: row.organization_id,
    name: row.name,
    is_enabled: row.is_enabled,
    is_test_mode: row.is_test_mode,
    api_version: row.api_version,
    currency: row.currency,
    subscribed_events: row.subscribed_events,
    rate_limit: { limit: row.rate_limit_override ?? RATE_LIMIT_DEFAULT },
    webhook: {
      url: row.webhook_url,
      is_enabled: row.is_webhook_enabled,
      last_success_at: row.last_success_at?.toISOString() ?? null,
      last_failure_at: row.last_failure_at?.toISOString() ?? null,
      consecutive_failures: row.consecutive_failures,
    },
  };
}
