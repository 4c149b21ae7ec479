import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { advanceClocks, lockClocks, nextStamp } from './clock.ts';
import type { ChannelContext } from './context.ts';
import { enqueueJob } from './jobs/job-queue.ts';
import { presenter } from './projection/plan-projection.ts';

/**
 * Moves an integration to another version: a job renders its documents in the new version beside the old, and when all
 * are there the pin moves, in one commit. Clients read the old version to the last moment. No stamp changes.
 */
export async function rollVersion(
  context: ChannelContext,
  actor: Actor,
  integrationId: string,
  version: string,
): Promise<boolean> {
  presenter(context.versions, version);
  return await context.db.transaction(async (tx) => {
    // Under the clock's lock: every projection after this one renders the new version too.
    await lockClocks(tx, [integrationId]);
    const [old] = await tx.query<{ apiVersion: string }>(sql`
      update integrations set rolling_to_version = ${version}
      where id = ${integrationId} and api_version <> ${version} returning api_version as "apiVersion"`);
    if (old === undefined) return false;
    // A roll that another one overtakes leaves documents that nobody keeps up to date.
    await tx.query(sql`
      delete from channel_documents d using integrations i
      where i.id = ${integrationId} and d.integration_id = i.id and d.api_version not in (i.api_version, ${version})`);
    await enqueueJob(tx, 'roll', [integrationId], `version ${version}`);
    await recordAudit(tx, actor, {
      organizationId: { ofIntegration: integrationId },
      action: 'integration.version_rolled',
      object: { kind: 'integration', id: integrationId },
      old,
      new: { apiVersion: version },
      at: context.now(),
    });
    return true;
  });
}

/**
 * Moves the pin; called in the last batch's transaction, with the clock that it has locked. The clock moves on, so that
 * nothing cached outlives the pin.
 */
export async function finishRoll(tx: Transaction, integrationId: string, clock: Date): Promise<void> {
  const [row] = await tx.query<{ old_version: string }>(sql`
    update integrations i set api_version = i.rolling_to_version, rolling_to_version = null
    from integrations old
    where i.id = ${integrationId} and old.id = i.id and i.rolling_to_version is not null
    returning old.api_version as old_version`);
  if (row === undefined) return;
  await advanceClocks(tx, new Map([[integrationId, nextStamp(clock, clock)]]));
  await tx.query(sql`
    delete from channel_documents where integration_id = ${integrationId} and api_version = ${row.old_version}`);
}
