import { newId } from '../contract/ids.ts';
import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { checkedId, checkedName, notFound } from './input-rules.ts';

export type Organization = {
  id: string;
  name: string;
  isProvisioned: boolean;
  hasIntegrationPlan: boolean;
};

/** One page of a list that is ordered by id: what stands after the given id. */
export type ListPage = { limit: number; after?: string };

export async function createOrganization(
  db: Queryable,
  input: { name: string; hasPlan: boolean },
): Promise<Organization> {
  const id = newId('organization');
  const name = checkedName(input.name);
  await db.query(sql`
    insert into organizations (id, name, has_integration_plan) values (${id}, ${name}, ${input.hasPlan})`);
  return { id, name, isProvisioned: true, hasIntegrationPlan: input.hasPlan };
}

export async function listOrganizations(db: Queryable, page: ListPage): Promise<Organization[]> {
  return await db.query<Organization>(sql`
    select id, name, is_provisioned and archived_at is null as "isProvisioned", has_integration_plan as "hasIntegrationPlan"
    from organizations where id > ${page.after ?? ''} order by id limit ${page.limit}`);
}

export async function findOrganization(db: Queryable, organizationId: string): Promise<Organization | null> {
  const [row] = await db.query<Organization>(sql`
    select id, name, is_provisioned and archived_at is null as "isProvisioned", has_integration_plan as "hasIntegrationPlan"
    from organizations where id = ${organizationId}`);
  return row ?? null;
}

/** False if there is no such organization. Holds from the next request on. */
export async function setPlan(db: Queryable, organizationId: string, hasPlan: boolean): Promise<boolean> {
  const rows = await db.query(sql`
    update organizations set has_integration_plan = ${hasPlan} where id = ${organizationId} returning id`);
  return rows.length === 1;
}

/** False if there is no such organization. Its integrations answer integration_not_provisioned while it is off. */
export async function setProvisioned(db: Queryable, organizationId: string, isProvisioned: boolean): Promise<boolean> {
  const rows = await db.query(sql`
    update organizations set is_provisioned = ${isProvisioned} where id = ${organizationId} returning id`);
  return rows.length === 1;
}

/** Refuses an id that names no organization; the row stays, and stays as it is, until the caller's transaction ends. */
export async function assertOrganization(db: Queryable, organizationId: string): Promise<void> {
  const rows = await db.query(sql`
    select id from organizations where id = ${checkedId('organization', organizationId)} for share`);
  if (rows.length === 0) throw notFound('organization', organizationId);
}
