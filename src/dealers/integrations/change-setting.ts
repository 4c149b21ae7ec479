import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { AuditAction } from '../../contract/audit-actions.ts';
import { type Database, inTransaction, type Transaction } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';

export type IntegrationSummary = {
  id: string;
  organizationId: string | null;
  name: string;
  keyHint: string;
  isEnabled: boolean;
  isTestMode: boolean;
  apiVersion: string;
  currency: string;
  rateLimitOverride: number | null;
  storageQuotaMb: number | null;
};

export const SUMMARY: Sql = sql`id, organization_id as "organizationId", name, key_hint as "keyHint", is_enabled as "isEnabled",
  is_test_mode as "isTestMode", api_version as "apiVersion", currency, rate_limit_override as "rateLimitOverride",
  storage_quota_mb as "storageQuotaMb"`;

type SettingChange = { action: AuditAction; assignment: Sql; values: Partial<IntegrationSummary> };

/** Changes columns of an integration and records it in the audit log. False if there is no such integration. */
export async function changeSetting(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
  { action, assignment, values }: SettingChange,
): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    const old = await lockIntegration(tx, integrationId);
    if (old === null) return false;
    await tx.query(sql`update integrations set ${assignment} where id = ${integrationId}`);
    await recordAudit(tx, actor, {
      organizationId: { ofIntegration: integrationId },
      action,
      object: { kind: 'integration', id: integrationId },
      // The hint of a new key may equal that of the old one; the change is recorded anyway.
      ...(action === 'integration.key_regenerated' ? { new: values } : { old, new: values }),
    });
    return true;
  });
}

export async function lockIntegration(tx: Transaction, integrationId: string): Promise<IntegrationSummary | null> {
  const [row] = await tx.query<IntegrationSummary>(sql`
    select ${SUMMARY} from integrations where id = ${integrationId} and deleted_at is null for no key update`);
  return row ?? null;
}
