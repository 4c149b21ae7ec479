import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { lockClocks } from '../../channel/clock.ts';
import { INTEGRATIONS_LIMIT } from '../../contract/dashboard/limits.ts';
import { CURRENT_VERSION } from '../../contract/versions.ts';
import { type Database, inTransaction, type Queryable, type Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../ids/new-id.ts';
import {
  checkedCurrency,
  checkedId,
  checkedName,
  checkedRateLimit,
  checkedStorageQuota,
  notFound,
} from '../input-rules.ts';
import { assertOrganization, type ListPage } from '../organizations.ts';
import { lockRatesShared } from '../rates/exchange-rates.ts';
import { assertRates, type RateOptions } from '../rates/missing-rates.ts';
import { assertBelowLimit } from '../row-limit.ts';
import { hashApiKey, hintOf, newApiKey, refuseTakenKey } from './api-keys.ts';
import { changeSetting, type IntegrationSummary, SUMMARY } from './change-setting.ts';

export type NewIntegration = {
  organizationId: string;
  userId: string | null;
  name: string;
  currency: string;
  isTestMode: boolean;
  /** Set only by scripts that must know the key in advance; otherwise a new key is made. */
  apiKey?: string;
} & RateOptions;

/** Makes an integration, pinned to the current version, and returns its key. The key is never shown again. */
export async function createIntegration(
  db: Database | Transaction,
  actor: Actor,
  input: NewIntegration,
): Promise<{ id: string; apiKey: string }> {
  const id = newId('integration');
  const apiKey = input.apiKey ?? newApiKey();
  const name = checkedName(input.name);
  const currency = checkedCurrency(input.currency);
  await inTransaction(db, async (tx) => {
    await lockRatesShared(tx);
    await assertOrganization(tx, input.organizationId);
    if (input.userId !== null) await assertUserOf(tx, input.organizationId, input.userId);
    if (actor.kind === 'person') await assertFewIntegrations(tx, input.organizationId);
    await tx
      .query(sql`
        insert into integrations
          (id, organization_id, data_organization_id, user_id, name, key_hash, key_hint, is_test_mode, api_version, currency)
        values
          (${id}, ${input.organizationId}, ${input.organizationId}, ${input.userId}, ${name}, ${hashApiKey(apiKey)}, ${hintOf(apiKey)},
           ${input.isTestMode}, ${CURRENT_VERSION}, ${currency})`)
      .catch(refuseTakenKey);
    await assertRates(tx, [id], input);
    await tx.query(sql`insert into webhook_endpoints (integration_id) values (${id})`);
    await tx.query(sql`insert into channel_clocks (integration_id, stamp) values (${id}, now())`);
    await recordAudit(tx, actor, {
      organizationId: input.organizationId,
      action: 'integration.created',
      object: { kind: 'integration', id },
      new: { name, currency, isTestMode: input.isTestMode, keyHint: hintOf(apiKey) },
    });
  });
  return { id, apiKey };
}

async function assertFewIntegrations(tx: Transaction, organizationId: string): Promise<void> {
  await assertBelowLimit(tx, {
    name: `integrations ${organizationId}`,
    rows: sql`select from integrations where organization_id = ${organizationId} and deleted_at is null`,
    limit: INTEGRATIONS_LIMIT,
    message: `You have ${INTEGRATIONS_LIMIT} integrations. Delete one, or ask the operator of this service for more.`,
  });
}

export async function listIntegrations(db: Queryable, page: ListPage): Promise<IntegrationSummary[]> {
  return await db.query<IntegrationSummary>(sql`
    select ${SUMMARY}
    from integrations where id > ${page.after ?? ''} and deleted_at is null order by id limit ${page.limit}`);
}

export async function findIntegration(db: Queryable, integrationId: string): Promise<IntegrationSummary | null> {
  const [row] = await db.query<IntegrationSummary>(sql`
    select ${SUMMARY}
    from integrations where id = ${integrationId} and deleted_at is null`);
  return row ?? null;
}

export async function setEnabled(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
  isEnabled: boolean,
): Promise<boolean> {
  const assignment = sql`is_enabled = ${isEnabled}`;
  const change = { action: 'integration.enabled_changed', assignment, values: { isEnabled } } as const;
  return await changeSetting(db, actor, integrationId, change);
}

export async function renameIntegration(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
  text: string,
): Promise<boolean> {
  const name = checkedName(text);
  const change = { action: 'integration.renamed', assignment: sql`name = ${name}`, values: { name } } as const;
  return await changeSetting(db, actor, integrationId, change);
}

/** Asked for anew under a lock that a change of the mode takes, too. */
export async function isInTestMode(db: Queryable, integrationId: string): Promise<boolean> {
  const rows = await db.query(sql`select from integrations where id = ${integrationId} and is_test_mode`);
  return rows.length > 0;
}

/**
 * Switches the mode of what is created from now on; what was recorded before is sent as it was recorded. The clock is
 * locked, so that an order or event in another transaction belongs to exactly one mode. False if there is no such
 * integration.
 */
export async function setTestMode(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
  isTestMode: boolean,
): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    await lockClocks(tx, [integrationId]);
    const assignment = sql`is_test_mode = ${isTestMode}`;
    const change = { action: 'integration.test_mode_changed', assignment, values: { isTestMode } } as const;
    return await changeSetting(tx, actor, integrationId, change);
  });
}

/** Null removes the override. */
export async function setRateLimit(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
  limit: number | null,
): Promise<boolean> {
  if (limit !== null) checkedRateLimit(limit);
  const assignment = sql`rate_limit_override = ${limit}`;
  const values = { rateLimitOverride: limit };
  return await changeSetting(db, actor, integrationId, {
    action: 'integration.rate_limit_changed',
    assignment,
    values,
  });
}

/** Null removes the override. */
export async function setStorageQuota(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
  quotaMb: number | null,
): Promise<boolean> {
  if (quotaMb !== null) checkedStorageQuota(quotaMb);
  return await changeSetting(db, actor, integrationId, {
    action: 'integration.storage_quota_changed',
    assignment: sql`storage_quota_mb = ${quotaMb}`,
    values: { storageQuotaMb: quotaMb },
  });
}

async function assertUserOf(db: Queryable, organizationId: string, userId: string): Promise<void> {
  const rows = await db.query(sql`
    select id from users where id = ${checkedId('user', userId)} and organization_id = ${organizationId} for key share`);
  if (rows.length === 0) throw notFound('user', userId);
}

export type ChannelName = { id: string; name: string; currency: string; isTestMode: boolean };

/** The dashboard shows at most this many: ten times what a person may create. An operator may create more than a person. */
export const SHOWN_INTEGRATIONS_LIMIT = 10 * INTEGRATIONS_LIMIT;

/** All integrations that hold data of a dealer, including those that are detached or being deleted. */
export async function integrationsOfDealer(db: Queryable, organizationId: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    select id from integrations
    where organization_id = ${organizationId} or data_organization_id = ${organizationId} order by id`);
  return rows.map(({ id }) => id);
}

/** Integrations of a dealer that are switched off: their requests are answered with 403. */
export async function countDisabled(db: Queryable, organizationId: string, limit: number): Promise<number> {
  const rows = await db.query(sql`
    select id from integrations
    where organization_id = ${organizationId} and deleted_at is null and not is_enabled limit ${limit}`);
  return rows.length;
}

/** The channels that a dealer's stock can be shown on, oldest first. */
export async function listChannels(db: Queryable, organizationId: string): Promise<ChannelName[]> {
  return await db.query<ChannelName>(sql`
    select id, name, currency, is_test_mode as "isTestMode" from integrations
    where organization_id = ${organizationId} order by id limit ${SHOWN_INTEGRATIONS_LIMIT}`);
}
