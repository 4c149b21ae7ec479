import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { AuditAction } from '../contract/audit-actions.ts';
import { type Database, inTransaction, type Queryable, type Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { newId } from '../ids/new-id.ts';
import {
  checkedCurrency,
  checkedId,
  checkedName,
  checkedStorageQuota,
  checkedTimeZone,
  notFound,
} from './input-rules.ts';

export type Organization = {
  id: string;
  name: string;
  /** Of the dealer's own prices. */
  currency: string;
  isProvisioned: boolean;
  hasIntegrationPlan: boolean;
  /** Null is the operator's setting for all. */
  storageQuotaMb: number | null;
};

const ORGANIZATION: Sql = sql`id, name, currency, is_provisioned and archived_at is null as "isProvisioned",
  has_integration_plan as "hasIntegrationPlan", storage_quota_mb as "storageQuotaMb"`;

/** One page of a list that is ordered by id: what stands after the given id. */
export type ListPage = { limit: number; after?: string };

export async function createOrganization(
  db: Database | Transaction,
  actor: Actor,
  input: { name: string; hasPlan: boolean; currency?: string | undefined; timeZone?: string | undefined },
): Promise<Organization> {
  const id = newId('organization');
  const name = checkedName(input.name);
  const currency = checkedCurrency(input.currency ?? 'USD');
  const timeZone = checkedTimeZone(input.timeZone ?? 'UTC');
  await inTransaction(db, async (tx) => {
    await tx.query(sql`
      insert into organizations (id, name, has_integration_plan, currency, time_zone)
      values (${id}, ${name}, ${input.hasPlan}, ${currency}, ${timeZone})`);
    await recordAudit(tx, actor, {
      organizationId: id,
      action: 'organization.created',
      object: { kind: 'organization', id },
      new: { name, hasPlan: input.hasPlan, currency, timeZone },
    });
  });
  return { id, name, currency, isProvisioned: true, hasIntegrationPlan: input.hasPlan, storageQuotaMb: null };
}

export async function listOrganizations(db: Queryable, page: ListPage): Promise<Organization[]> {
  return await db.query<Organization>(sql`
    select ${ORGANIZATION}
    from organizations where id > ${page.after ?? ''} and deleted_at is null order by id limit ${page.limit}`);
}

export async function findOrganization(db: Queryable, organizationId: string): Promise<Organization | null> {
  const [row] = await db.query<Organization>(sql`
    select ${ORGANIZATION}
    from organizations where id = ${organizationId} and deleted_at is null`);
  return row ?? null;
}

/** False if there is no such organization. Takes effect with the next request. */
export async function setPlan(
  db: Database | Transaction,
  actor: Actor,
  organizationId: string,
  hasPlan: boolean,
): Promise<boolean> {
  const column = sql`has_integration_plan`;
  return await changeColumn(db, actor, organizationId, column, 'organization.plan_changed', { hasPlan });
}

/** False if there is no such organization. Its integrations answer integration_not_provisioned while it is off. */
export async function setProvisioned(
  db: Database | Transaction,
  actor: Actor,
  organizationId: string,
  isProvisioned: boolean,
): Promise<boolean> {
  const column = sql`is_provisioned`;
  return await changeColumn(db, actor, organizationId, column, 'organization.provisioning_changed', { isProvisioned });
}

/** Null removes the override. False if there is no such organization. Takes effect with the next request. */
export async function setOrganizationStorageQuota(
  db: Database | Transaction,
  actor: Actor,
  organizationId: string,
  quotaMb: number | null,
): Promise<boolean> {
  if (quotaMb !== null) checkedStorageQuota(quotaMb);
  const change = { storageQuotaMb: quotaMb };
  const column = sql`storage_quota_mb`;
  return await changeColumn(db, actor, organizationId, column, 'organization.storage_quota_changed', change);
}

/** Changes one column and records it in the audit log, by the only name in `change`. */
async function changeColumn(
  db: Database | Transaction,
  actor: Actor,
  organizationId: string,
  column: Sql,
  action: AuditAction,
  change: Record<string, boolean | number | null>,
): Promise<boolean> {
  const [[name, value] = ['', null]] = Object.entries(change);
  return await inTransaction(db, async (tx) => {
    const [old] = await tx.query<{ value: boolean | number | null }>(sql`
      select ${column} as value from organizations
      where id = ${organizationId} and deleted_at is null for no key update`);
    if (old === undefined) return false;
    await tx.query(sql`update organizations set ${column} = ${value} where id = ${organizationId}`);
    await recordAudit(tx, actor, {
      organizationId,
      action,
      object: { kind: 'organization', id: organizationId },
      old: { [name]: old.value },
      new: change,
    });
    return true;
  });
}

/** Refuses an id that names no organization; the row stays, and stays as it is, until the caller's transaction ends. */
export async function assertOrganization(db: Queryable, organizationId: string): Promise<void> {
  const rows = await db.query(sql`
    select id from organizations
    where id = ${checkedId('organization', organizationId)} and deleted_at is null for share`);
  if (rows.length === 0) throw notFound('organization', organizationId);
}
