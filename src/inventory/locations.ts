import type { ChannelContext } from '../channel/context.ts';
import { DomainError } from '../contract/domain-error.ts';
import { newId } from '../contract/ids.ts';
import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { checkedName } from '../dealers/input-rules.ts';
import { refreshOrganization } from '../dealers/organization-settings.ts';

/** Business units and the locations in them are where stock lies. */
export async function createBusinessUnit(db: Queryable, organizationId: string, name: string): Promise<string> {
  const id = newId('businessUnit');
  const rows = await db.query(sql`
    insert into business_units (id, organization_id, name)
    select ${id}, id, ${checkedName(name)} from organizations where id = ${organizationId} returning id`);
  if (rows.length === 0) throw new DomainError('not_found', 'There is no such organization.');
  return id;
}

export async function createLocation(
  db: Queryable,
  organizationId: string,
  businessUnitId: string,
  name: string,
): Promise<string> {
  const id = newId('location');
  const rows = await db.query(sql`
    insert into locations (id, organization_id, business_unit_id, name)
    select ${id}, ${organizationId}, id, ${checkedName(name)} from business_units
    where id = ${businessUnitId} and organization_id = ${organizationId} returning id`);
  if (rows.length === 0) throw new DomainError('not_found', 'There is no such business unit.', 'businessUnitId');
  return id;
}

export async function renameBusinessUnit(
  context: ChannelContext,
  organizationId: string,
  id: string,
  name: string,
): Promise<void> {
  await context.db.transaction(async (tx) => {
    const rows = await tx.query(sql`
      update business_units set name = ${checkedName(name)}
      where id = ${id} and organization_id = ${organizationId} returning id`);
    if (rows.length === 0) throw new DomainError('not_found', 'There is no such business unit.');
    await refreshOrganization(tx, organizationId, 'business unit name');
  });
}

export async function renameLocation(
  context: ChannelContext,
  organizationId: string,
  id: string,
  name: string,
): Promise<void> {
  await context.db.transaction(async (tx) => {
    const rows = await tx.query(sql`
      update locations set name = ${checkedName(name)}
      where id = ${id} and organization_id = ${organizationId} returning id`);
    if (rows.length === 0) throw new DomainError('not_found', 'There is no such location.');
    await refreshOrganization(tx, organizationId, 'location name');
  });
}
