import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { lockClocks } from '../../channel/clock.ts';
import { enqueueJob } from '../../channel/jobs/channel-job-queue.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { type Database, inTransaction, type Queryable, type Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { assertOrganization } from '../organizations.ts';
import { lockRatesShared } from '../rates/exchange-rates.ts';
import { assertRates, type RateOptions } from '../rates/missing-rates.ts';
import { lockIntegration } from './change-setting.ts';

/**
 * Attaches an integration to a dealer. Null detaches it: the key stays known, and its requests answer
 * integration_org_missing. A user who does not belong to the new organization is removed from the integration, because
 * clients can read the user's id.
 *
 * Nothing is projected onto a detached channel, and its jobs wait. When the integration is attached again, the projection
 * catches up.
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
 * Locks an integration to its dealer until the caller's transaction ends, and answers whose it is: null if nobody's, or if it is
 * deleted. For writes that do not take its clock: while they run, the integration can't be attached to another dealer.
 */
export async function lockAttachment(tx: Transaction, integrationId: string): Promise<string | null> {
  const rows = await tx.query<{ organizationId: string | null }>(sql`
    select organization_id as "organizationId" from integrations
    where id = ${integrationId} and deleted_at is null for key share`);
  return rows[0]?.organizationId ?? null;
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
        or exists (select from reservations where integration_id = i.id)
        or exists (select from customer_external_ids where integration_id = i.id)
        or exists (select from test_customers where integration_id = i.id)
        or exists (select from idempotency_records where integration_id = i.id))`);
  if (rows.length > 0) {
    throw new DomainError(
      'wrong_status',
      "This integration has another dealer's stock, orders, customers or events; make a new one for this dealer.",
      'organization',
    );
  }
}
