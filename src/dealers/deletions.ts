import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { lockClocks } from '../channel/clock.ts';
import { DomainError } from '../contract/domain-error.ts';
import { type Database, inTransaction, type Queryable, type Transaction } from '../db/database.ts';
import { pruneFinishedJobs } from '../db/jobs/job-lease.ts';
import { type Sql, sql } from '../db/sql.ts';
import { newId } from '../ids/new-id.ts';

/**
 * Deleting has two parts. The first is one small commit: keys are unknown, webhooks stop, nobody can sign in. The second
 * is a persisted job that removes the rows in batches (sales/deletion/run-deletions.ts), since there may be millions.
 */
export type DeletionJob = {
  id: string;
  organizationId: string | null;
  /** Null if a whole organization is deleted. */
  integrationId: string | null;
  status: 'pending' | 'running' | 'done';
  /** The name of the integration, as long as its row exists. */
  name: string | null;
  /** The step that is running. */
  stage: string;
  /** Rows; the total is counted when the job begins to run, and is null before. */
  done: number;
  total: number | null;
  error: string | null;
  createdAt: Date;
};

/** No known key has this hash. */
const UNKNOWN_KEY_HASH = sql`sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))`;

/** False if there is no such integration, or it is deleted already. Its key is unknown from the next request on. */
export async function deleteIntegration(
  db: Database | Transaction,
  actor: Actor,
  integrationId: string,
): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    // The clock is locked first, as in every change of the channel; in another order the two could deadlock.
    await lockClocks(tx, [integrationId]);
    const [old] = await tx.query<{ owner: string | null; name: string; keyHint: string; isTestMode: boolean }>(sql`
      select data_organization_id as owner, name, key_hint as "keyHint", is_test_mode as "isTestMode"
      from integrations where id = ${integrationId} and deleted_at is null for update`);
    if (old === undefined) return false;
    await tx.query(sql`
      update integrations set deleted_at = now(), organization_id = null, key_hash = ${UNKNOWN_KEY_HASH}, key_hint = ''
      where id = ${integrationId}`);
    await stopWebhooks(tx, sql`integration_id = ${integrationId}`);
    const { owner, ...values } = old;
    await enqueueDeletion(tx, owner, integrationId);
    await recordAudit(tx, actor, {
      organizationId: owner,
      action: 'integration.deleted',
      object: { kind: 'integration', id: integrationId },
      old: values,
    });
    return true;
  });
}

/** The same for an integration of the dealer, who typed its name to confirm the deletion. */
export async function deleteIntegrationOf(
  db: Database,
  actor: Actor,
  { organizationId, integrationId }: { organizationId: string; integrationId: string },
  typedName: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockClocks(tx, [integrationId]);
    const [found] = await tx.query<{ name: string }>(sql`
      select name from integrations
      where id = ${integrationId} and organization_id = ${organizationId} and deleted_at is null for update`);
    if (found === undefined) throw new DomainError('not_found', 'There is no such integration.');
    if (found.name !== typedName.trim()) {
      throw new DomainError('invalid_input', `Type the name exactly as it is: ${found.name}`, 'name');
    }
    await deleteIntegration(tx, actor, integrationId);
  });
}

/** False if there is no such organization, or it is deleted already. */
export async function deleteOrganization(
  db: Database | Transaction,
  actor: Actor,
  organizationId: string,
): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    // The organization is locked first: a transaction that attaches or creates an integration or a user for it has
    // ended before, or is refused.
    const [old] = await tx.query<{ name: string }>(sql`
      update organizations set deleted_at = now(), archived_at = coalesce(archived_at, now())
      where id = ${organizationId} and deleted_at is null returning name`);
    if (old === undefined) return false;
    const integrations = await tx.query<{ id: string }>(sql`
      update integrations set deleted_at = now(), key_hash = ${UNKNOWN_KEY_HASH}, key_hint = ''
      where (organization_id = ${organizationId} or data_organization_id = ${organizationId}) and deleted_at is null
      returning id`);
    await stopWebhooks(tx, sql`integration_id = any(${integrations.map((row) => row.id)}::text[])`);
    await signOut(tx, organizationId);
    await enqueueDeletion(tx, organizationId, null);
    // It is not recorded in the organization's own log, which is removed, too.
    await recordAudit(tx, actor, {
      organizationId: null,
      action: 'organization.deleted',
      object: { kind: 'organization', id: organizationId },
      old,
    });
    return true;
  });
}

/** The newest deletions of an organization and its integrations, with their progress. */
export async function listDeletions(db: Queryable, organizationId: string, limit: number): Promise<DeletionJob[]> {
  return await db.query<DeletionJob>(sql`
    select j.id, j.organization_id as "organizationId", j.integration_id as "integrationId", i.name, j.status, j.stage,
      j.done, j.total, j.error, j.created_at as "createdAt"
    from deletion_jobs j left join integrations i on i.id = j.integration_id
    where j.organization_id = ${organizationId} order by j.created_at desc, j.id desc limit ${limit}`);
}

/** Deletes some of the records of deletions that were done long ago; returns how many. */
export async function pruneDeletions(db: Queryable): Promise<number> {
  return await pruneFinishedJobs(db, 'deletion_jobs');
}

/** Without an endpoint nothing is sent, and no event gets a delivery. */
async function stopWebhooks(tx: Transaction, which: Sql): Promise<void> {
  await tx.query(sql`delete from webhook_endpoints where ${which}`);
}

/** Accounts hold the passwords, and links can set new ones. Without either, nobody can sign in again. */
async function signOut(tx: Transaction, organizationId: string): Promise<void> {
  const users = sql`select id from users where organization_id = ${organizationId}`;
  await tx.query(sql`delete from sessions where user_id in (${users})`);
  await tx.query(sql`delete from accounts where user_id in (${users})`);
  await tx.query(sql`delete from sign_in_links where organization_id = ${organizationId}`);
}

async function enqueueDeletion(
  tx: Transaction,
  organizationId: string | null,
  integrationId: string | null,
): Promise<void> {
  await tx.query(sql`
    insert into deletion_jobs (id, organization_id, integration_id)
    values (${newId('job')}, ${organizationId}, ${integrationId})`);
}
