import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { ChannelContext } from '../channel/context.ts';
import { DomainError } from '../contract/domain-error.ts';
import { type Database, inTransaction, type Queryable, type Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { checkedName } from '../dealers/input-rules.ts';
import { refreshOrganization } from '../dealers/organization-settings.ts';
import { newId } from '../ids/new-id.ts';

/** Business units and the locations in them are where stock lies. */
export async function createBusinessUnit(
  db: Database | Transaction,
  actor: Actor,
  organizationId: string,
  name: string,
): Promise<string> {
  const id = newId('businessUnit');
  const stored = checkedName(name);
  await inTransaction(db, async (tx) => {
    const rows = await tx.query(sql`
      insert into business_units (id, organization_id, name)
      select ${id}, id, ${stored} from organizations where id = ${organizationId} returning id`);
    if (rows.length === 0) throw new DomainError('not_found', 'There is no such organization.');
    await recordAudit(tx, actor, {
      organizationId,
      action: 'business_unit.created',
      object: { kind: 'business_unit', id },
      new: { name: stored },
    });
  });
  return id;
}

export async function createLocation(
  db: Database | Transaction,
  actor: Actor,
  organizationId: string,
  businessUnitId: string,
  name: string,
): Promise<string> {
  const id = newId('location');
  const stored = checkedName(name);
  await inTransaction(db, async (tx) => {
    const rows = await tx.query(sql`
      insert into locations (id, organization_id, business_unit_id, name)
      select ${id}, ${organizationId}, id, ${stored} from business_units
      where id = ${businessUnitId} and organization_id = ${organizationId} returning id`);
    if (rows.length === 0) throw new DomainError('not_found', 'There is no such business unit.', 'businessUnitId');
    await recordAudit(tx, actor, {
      organizationId,
      action: 'location.created',
      object: { kind: 'location', id },
      new: { name: stored, businessUnitId },
    });
  });
  return id;
}

export async function renameBusinessUnit(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  id: string,
  name: string,
): Promise<void> {
  await context.db.transaction(async (tx) => {
    const stored = checkedName(name);
    const [old] = await tx.query<{ name: string }>(sql`
      select name from business_units where id = ${id} and organization_id = ${organizationId} for no key update`);
    if (old === undefined) throw new DomainError('not_found', 'There is no such business unit.');
    await tx.query(sql`update business_units set name = ${stored} where id = ${id}`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'business_unit.renamed',
      object: { kind: 'business_unit', id },
      old,
      new: { name: stored },
    });
    await refreshOrganization(tx, organizationId, 'business unit name');
  });
}

export async function renameLocation(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  id: string,
  name: string,
): Promise<void> {
  await context.db.transaction(async (tx) => {
    const stored = checkedName(name);
    const [old] = await tx.query<{ name: string }>(sql`
      select name from locations where id = ${id} and organization_id = ${organizationId} for no key update`);
    if (old === undefined) throw new DomainError('not_found', 'There is no such location.');
    await tx.query(sql`update locations set name = ${stored} where id = ${id}`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'location.renamed',
      object: { kind: 'location', id },
      old,
      new: { name: stored },
    });
    await refreshOrganization(tx, organizationId, 'location name');
  });
}

export type LocationEntry = { id: string; name: string; businessUnitId: string; businessUnit: string };

/** A dealer has as many as people can choose from. */
const LOCATIONS_LIMIT = 1_000;

export async function listLocations(db: Queryable, organizationId: string): Promise<LocationEntry[]> {
  return await db.query<LocationEntry>(sql`
    select l.id, l.name, u.id as "businessUnitId", u.name as "businessUnit"
    from locations l join business_units u on u.id = l.business_unit_id
    where l.organization_id = ${organizationId} order by u.name, l.name, l.id limit ${LOCATIONS_LIMIT}`);
}
