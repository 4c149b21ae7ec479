import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { lockClocks } from '../../channel/clock.ts';
import { enqueueJob } from '../../channel/jobs/job-queue.ts';
import { INTEGRATIONS_LIMIT } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
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
import { changeSetting, type IntegrationSummary, lockIntegration, SUMMARY } from './change-setting.ts';

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

/**
 * Null detaches: the key stays known, and its requests answer integration_org_missing. A user who does not belong to
 * the new organization is let go, because clients can read the user's id.
 *
 * Nothing is projected onto a detached channel, and its jobs wait. When the integration is attached again, the projection catches up.
 */
export async function setOrganization(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
  organizationId: string | null,
  options: RateOptions = {},
): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    if (organizationId !== null) await lockRatesShared(tx);
    // A transaction that projects onto this channel has the dealer until its commit, or finds none. An order in another
    // transaction holds the clock, too: it is seen here, or it comes too late and is refused.
    await lockClocks(tx, [integrationId]);
    if (organizationId !== null) {
      await assertOrganization(tx, organizationId);
      // A write without the clock, such as an upsert of customers, locks this row. It has ended before we look for its
      // data.
      await tx.query(sql`select id from integrations where id = ${integrationId} for update`);
      await assertNoForeignData(tx, integrationId, organizationId);
    }
    const old = await lockIntegration(tx, integrationId);
    if (old === null) return false;
    await tx.query(sql`
      update integrations i set
        organization_id = ${organizationId},
        data_organization_id = coalesce(${organizationId}, i.data_organization_id),
        user_id = case
          when ${organizationId}::text is null then i.user_id
          else (select u.id from users u where u.id = i.user_id and u.organization_id = ${organizationId})
        end
      where i.id = ${integrationId}`);
    await assertRates(tx, [integrationId], options);
    if (organizationId !== null) await enqueueJob(tx, 'refresh', [integrationId], 'organization');
    await recordAudit(tx, actor, {
      organizationId: organizationId ?? old.organizationId,
      action: 'integration.attachment_changed',
      object: { kind: 'integration', id: integrationId },
      old,
      new: { organizationId },
    });
    return true;
  });
}

/**
 * Locks an integration to its dealer until the caller's transaction ends. For writes that do not take its clock: while
 * they run, the integration can't be attached to another dealer. Throws if it is no longer the dealer's.
 */
export async function lockAttachment(tx: Transaction, integrationId: string, organizationId: string): Promise<void> {
  const rows = await tx.query(sql`
    select id from integrations
    where id = ${integrationId} and organization_id = ${organizationId} and deleted_at is null for key share`);
  if (rows.length === 0) throw new Error(`integration ${integrationId} is no longer the dealer's`);
}

/**
 * The same for a change that a person asks for: an integration of another dealer is answered like an unknown one. If
 * you also lock the integration's clock, lock it first.
 */
export async function assertIntegrationOf(
  tx: Transaction,
  integrationId: string,
  organizationId: string,
): Promise<void> {
  const rows = await tx.query(sql`
    select id from integrations
    where id = ${integrationId} and organization_id = ${organizationId} and deleted_at is null for key share`);
  if (rows.length === 0) throw new DomainError('not_found', 'There is no such integration.');
}

async function assertUserOf(db: Queryable, organizationId: string, userId: string): Promise<void> {
  const rows = await db.query(sql`
    select id from users where id = ${checkedId('user', userId)} and organization_id = ${organizationId} for key share`);
  if (rows.length === 0) throw notFound('user', userId);
}

/**
 * What an integration has of its dealer, its client would go on reading under another one; and copies of it, which the
 * client has by then, would be mixed with the other's for ever.
 */
async function assertNoForeignData(db: Queryable, integrationId: string, organizationId: string): Promise<void> {
  const rows = await db.query(sql`
    select i.id from integrations i
    where i.id = ${integrationId} and i.data_organization_id is distinct from ${organizationId}
      and (exists (select from publications where integration_id = i.id)
        or exists (select from orders where integration_id = i.id)
        or exists (select from events where integration_id = i.id)
        or exists (select from customer_external_ids where integration_id = i.id)
        or exists (select from idempotency_records where integration_id = i.id))`);
  if (rows.length > 0) {
    throw new DomainError(
      'wrong_status',
      "This integration has another dealer's stock, orders or events; make a new one for this dealer.",
      'organization',
    );
  }
}

export type ChannelName = { id: string; name: string; currency: string; isTestMode: boolean };

/** The dashboard shows at most this many channels side by side. */
const CHANNELS_LIMIT = 100;

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
    where organization_id = ${organizationId} order by id limit ${CHANNELS_LIMIT}`);
}
