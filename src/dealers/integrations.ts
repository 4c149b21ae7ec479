import { newId } from '../contract/ids.ts';
import { CURRENT_VERSION } from '../contract/versions.ts';
import type { Database, Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { hashApiKey, hintOf, newApiKey } from './api-keys.ts';

export type NewIntegration = {
  organizationId: string;
  userId: string | null;
  name: string;
  currency: string;
  isTestMode: boolean;
  /** Given only by scripts that must know the key beforehand; otherwise one is made. */
  apiKey?: string;
};

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
};

/** Makes an integration, pinned to the current version, and returns its key: the only time the key is seen. */
export async function createIntegration(db: Database, input: NewIntegration): Promise<{ id: string; apiKey: string }> {
  const id = newId('integration');
  const apiKey = input.apiKey ?? newApiKey();
  await db.transaction(async (tx) => {
    await tx.query(sql`
      insert into integrations
        (id, organization_id, user_id, name, key_hash, key_hint, is_test_mode, api_version, currency)
      values
        (${id}, ${input.organizationId}, ${input.userId}, ${input.name}, ${hashApiKey(apiKey)}, ${hintOf(apiKey)},
         ${input.isTestMode}, ${CURRENT_VERSION}, ${input.currency})`);
    await tx.query(sql`insert into webhook_endpoints (integration_id) values (${id})`);
  });
  return { id, apiKey };
}

export async function listIntegrations(db: Queryable, limit: number): Promise<IntegrationSummary[]> {
  return await db.query<IntegrationSummary>(sql`
    select id, organization_id as "organizationId", name, key_hint as "keyHint", is_enabled as "isEnabled",
      is_test_mode as "isTestMode", api_version as "apiVersion", currency, rate_limit_override as "rateLimitOverride"
    from integrations order by id limit ${limit}`);
}

/** The new key, or null if there is no such integration. The old key is unknown from the next request on. */
export async function regenerateKey(db: Queryable, integrationId: string): Promise<string | null> {
  const apiKey = newApiKey();
  const rows = await db.query(sql`
    update integrations set key_hash = ${hashApiKey(apiKey)}, key_hint = ${hintOf(apiKey)}
    where id = ${integrationId} returning id`);
  return rows.length === 1 ? apiKey : null;
}

export async function setEnabled(db: Queryable, integrationId: string, isEnabled: boolean): Promise<boolean> {
  const rows = await db.query(sql`
    update integrations set is_enabled = ${isEnabled} where id = ${integrationId} returning id`);
  return rows.length === 1;
}

/** Null takes the override away. */
export async function setRateLimit(db: Queryable, integrationId: string, limit: number | null): Promise<boolean> {
  const rows = await db.query(sql`
    update integrations set rate_limit_override = ${limit} where id = ${integrationId} returning id`);
  return rows.length === 1;
}

/** Null detaches: the key stays known, and its requests answer integration_org_missing. */
export async function setOrganization(
  db: Queryable,
  integrationId: string,
  organizationId: string | null,
): Promise<boolean> {
  const rows = await db.query(sql`
    update integrations set organization_id = ${organizationId} where id = ${integrationId} returning id`);
  return rows.length === 1;
}

export async function deleteIntegration(db: Queryable, integrationId: string): Promise<boolean> {
  const rows = await db.query(sql`delete from integrations where id = ${integrationId} returning id`);
  return rows.length === 1;
}
