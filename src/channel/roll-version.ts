import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { advanceClocks, lockClocks, nextStamp } from './clock.ts';
import type { ChannelContext } from './context.ts';
import { enqueueJob } from './jobs/channel-job-queue.ts';
import { presentFor } from './projection/plan-projection.ts';

/** Documents that one transaction deletes, under the clock that the integration's orders wait for. */
const REMOVAL_LIMIT = 100;
/** How often a roll is tried again, if another roll came first. */
const ATTEMPT_LIMIT = 10;

/**
 * Moves an integration to another version: a job renders its documents in the new version beside the old, and when all
 * are there the pin moves, in one commit. Clients read the old version until then. No stamp changes. The job then
 * removes the documents of the old version in batches.
 *
 * Returns false if the integration has this version already.
 */
export async function rollVersion(
  context: ChannelContext,
  actor: Actor,
  integrationId: string,
  version: string,
): Promise<boolean> {
  presentFor(context.versions, version);
  for (let attempts = 1; attempts <= ATTEMPT_LIMIT; attempts++) {
    // What an earlier roll left behind is not kept up to date, so none of it may be there when this one begins.
    await context.db.transaction((tx) => abandonOtherRoll(tx, integrationId, version));
    while ((await context.db.transaction((tx) => removeUnkeptDocuments(tx, integrationId))) === REMOVAL_LIMIT);
    const outcome = await context.db.transaction((tx) => startRoll(tx, context, actor, integrationId, version));
    if (outcome !== 'overtaken') return outcome === 'started';
  }
  throw new Error(`other rolls of ${integrationId} kept starting`);
}

async function abandonOtherRoll(tx: Transaction, integrationId: string, version: string): Promise<void> {
  await lockClocks(tx, [integrationId]);
  await tx.query(sql`
    update integrations set rolling_to_version = null
    where id = ${integrationId} and rolling_to_version <> ${version}`);
}

async function startRoll(
  tx: Transaction,
  context: ChannelContext,
  actor: Actor,
  integrationId: string,
  version: string,
): Promise<'started' | 'overtaken' | 'current'> {
  // Under the clock's lock: every projection after this one renders the new version too.
  await lockClocks(tx, [integrationId]);
  const [old] = await tx.query<{ apiVersion: string; isClear: boolean }>(sql`
    select api_version as "apiVersion", rolling_to_version is not distinct from ${version} or not exists (
      select from channel_documents d where d.integration_id = i.id and d.api_version = ${version}) as "isClear"
    from integrations i where i.id = ${integrationId} and i.api_version <> ${version}`);
  if (old === undefined) return 'current';
  if (!old.isClear) return 'overtaken';
  await tx.query(sql`update integrations set rolling_to_version = ${version} where id = ${integrationId}`);
  await enqueueJob(tx, 'roll', [integrationId], `version ${version}`);
  await recordAudit(tx, actor, {
    organizationId: { ofIntegration: integrationId },
    action: 'integration.version_rolled',
    object: { kind: 'integration', id: integrationId },
    old: { apiVersion: old.apiVersion },
    new: { apiVersion: version },
    at: context.now(),
  });
  return 'started';
}

/**
 * Moves the pin; called in the transaction of the last batch of documents, with the clock that it has locked. The clock
 * moves on, so that nothing cached outlives the pin.
 */
export async function finishRoll(tx: Transaction, integrationId: string, clock: Date): Promise<void> {
  const rows = await tx.query(sql`
    update integrations set api_version = rolling_to_version, rolling_to_version = null
    where id = ${integrationId} and rolling_to_version is not null returning id`);
  if (rows.length > 0) advanceClocks(tx, new Map([[integrationId, nextStamp(clock, clock)]]));
}

/** Whether the pin has yet to move; afterwards the job of a roll has only to remove. */
export async function isRolling(tx: Transaction, integrationId: string): Promise<boolean> {
  const rows = await tx.query(sql`
    select id from integrations where id = ${integrationId} and rolling_to_version is not null`);
  return rows.length > 0;
}

/**
 * Removes some of the documents in versions that nobody reads; returns how many. Fewer than the limit means that none
 * is left.
 */
async function removeUnkeptDocuments(tx: Transaction, integrationId: string): Promise<number> {
  // Under the clock no roll begins or ends.
  await lockClocks(tx, [integrationId]);
  const rows = await tx.query(sql`
    delete from channel_documents where ctid = any(array(
      select d.ctid from channel_documents d join integrations i on i.id = d.integration_id
      where d.integration_id = ${integrationId} and d.api_version <> i.api_version
        and d.api_version is distinct from i.rolling_to_version
      limit ${REMOVAL_LIMIT}))
    returning 1`);
  return rows.length;
}

/** Removes a batch; returns whether it was the last. */
export async function removeOldVersion(tx: Transaction, integrationId: string): Promise<boolean> {
  return (await removeUnkeptDocuments(tx, integrationId)) < REMOVAL_LIMIT;
}
