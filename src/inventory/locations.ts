import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { ChannelContext } from '../channel/context.ts';
import { BUSINESS_UNITS_LIMIT, LOCATIONS_LIMIT } from '../contract/dashboard/limits.ts';
import { DomainError } from '../contract/domain-error.ts';
import { type Database, inTransaction, type Queryable, type Transaction } from '../db/database.ts';
import { rawSql, sql } from '../db/sql.ts';
import { checkedName } from '../dealers/input-rules.ts';
import { refreshOrganization } from '../dealers/organization-settings.ts';
import { assertBelowLimit } from '../dealers/row-limit.ts';
import { newId } from '../ids/new-id.ts';
import { changeItems } from './change-items.ts';

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
    await assertBelowLimit(tx, {
      name: `business_units ${organizationId}`,
      rows: sql`select from business_units where organization_id = ${organizationId}`,
      limit: BUSINESS_UNITS_LIMIT,
      message: `You have ${BUSINESS_UNITS_LIMIT} business units. Delete one before you add another.`,
    });
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
    await assertBelowLimit(tx, {
      name: `locations ${organizationId}`,
      rows: sql`select from locations where organization_id = ${organizationId}`,
      limit: LOCATIONS_LIMIT,
      message: `You have ${LOCATIONS_LIMIT} locations. Delete one before you add another.`,
    });
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

type Rename = (
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  id: string,
  name: string,
) => Promise<void>;

export const renameBusinessUnit: Rename = (...change) => rename('business_unit', ...change);

export const renameLocation: Rename = (...change) => rename('location', ...change);

const RENAMED = {
  business_unit: { table: rawSql('business_units'), label: 'business unit' },
  location: { table: rawSql('locations'), label: 'location' },
};

async function rename(
  kind: keyof typeof RENAMED,
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  id: string,
  name: string,
): Promise<void> {
  const { table, label } = RENAMED[kind];
  await context.db.transaction(async (tx) => {
    const stored = checkedName(name);
    const [old] = await tx.query<{ name: string }>(sql`
      select name from ${table} where id = ${id} and organization_id = ${organizationId} for no key update`);
    if (old === undefined) throw new DomainError('not_found', `There is no such ${label}.`);
    await tx.query(sql`update ${table} set name = ${stored} where id = ${id}`);
    await recordAudit(tx, actor, {
      organizationId,
      action: `${kind}.renamed`,
      object: { kind, id },
      old,
      new: { name: stored },
    });
    await refreshOrganization(tx, organizationId, `${label} name`);
  });
}

/**
 * Deletes a location. Items that lie there have none afterwards; their number must be the one that the person confirmed,
 * so that nobody clears more than they were told.
 */
export async function deleteLocation(
  context: ChannelContext,
  actor: Actor,
  { organizationId, id, confirmedItems }: { organizationId: string; id: string; confirmedItems: number },
): Promise<void> {
  const name = await nameOfLocation(context.db, organizationId, id);
  const itemIds = await itemsAt(context.db, id);
  if (itemIds.length !== confirmedItems) throw otherItems(name, itemIds.length);
  if (itemIds.length > 0) {
    await changeItems(
      context,
      { organizationId, itemIds },
      { actor, action: 'item.edited', new: { locationId: null } },
      async (tx, ids) => {
        const rows = await tx.query<{ id: string }>(sql`
          update items set location_id = null where id = any(${ids}::text[]) and location_id = ${id} returning id`);
        return rows.map((row) => ({ id: row.id, old: { locationId: id }, new: { locationId: null } }));
      },
    );
  }
  await context.db.transaction(async (tx) => {
    // Whoever puts an item here meanwhile waits for this lock, and then finds no location.
    const rows = await tx.query(sql`
      select id from locations where id = ${id} and organization_id = ${organizationId} for update`);
    if (rows.length === 0) throw new DomainError('not_found', 'There is no such location.');
    const left = await itemsAt(tx, id);
    if (left.length > 0) throw otherItems(name, left.length);
    await tx.query(sql`delete from locations where id = ${id}`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'location.deleted',
      object: { kind: 'location', id },
      old: { name },
    });
  });
}

/** Deletes a business unit that has no locations any more. */
export async function deleteBusinessUnit(
  db: Database | Transaction,
  actor: Actor,
  organizationId: string,
  id: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const [old] = await tx.query<{ name: string }>(sql`
      select name from business_units where id = ${id} and organization_id = ${organizationId} for update`);
    if (old === undefined) throw new DomainError('not_found', 'There is no such business unit.');
    const locations = await tx.query(sql`select id from locations where business_unit_id = ${id} limit 1`);
    if (locations.length > 0) {
      throw new DomainError('not_empty', `${old.name} still has locations. Delete them first.`);
    }
    await tx.query(sql`delete from business_units where id = ${id}`);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'business_unit.deleted',
      object: { kind: 'business_unit', id },
      old,
    });
  });
}

async function nameOfLocation(db: Queryable, organizationId: string, id: string): Promise<string> {
  const [row] = await db.query<{ name: string }>(sql`
    select name from locations where id = ${id} and organization_id = ${organizationId}`);
  if (row === undefined) throw new DomainError('not_found', 'There is no such location.');
  return row.name;
}

async function itemsAt(db: Queryable, locationId: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`select id from items where location_id = ${locationId}`);
  return rows.map((row) => row.id);
}

function otherItems(name: string, count: number): DomainError {
  const items = count === 1 ? 'item lies' : 'items lie';
  return new DomainError('changed_meanwhile', `By now ${count} ${items} at ${name}. Look again before you delete it.`);
}

/** Where stock can lie, with how many items lie there. */
export type BusinessUnit = { id: string; name: string; locations: { id: string; name: string; items: number }[] };

export async function listBusinessUnits(db: Queryable, organizationId: string): Promise<BusinessUnit[]> {
  return await db.query<BusinessUnit>(sql`
    select u.id, u.name, coalesce((
      select json_agg(json_build_object('id', l.id, 'name', l.name,
        'items', (select count(*) from items i where i.location_id = l.id)) order by l.name, l.id)
      from locations l where l.business_unit_id = u.id), '[]'::json) as locations
    from business_units u where u.organization_id = ${organizationId} order by u.name, u.id limit ${BUSINESS_UNITS_LIMIT}`);
}

export type LocationEntry = { id: string; name: string; businessUnitId: string; businessUnit: string };

export async function listLocations(db: Queryable, organizationId: string): Promise<LocationEntry[]> {
  return await db.query<LocationEntry>(sql`
    select l.id, l.name, u.id as "businessUnitId", u.name as "businessUnit"
    from locations l join business_units u on u.id = l.business_unit_id
    where l.organization_id = ${organizationId} order by u.name, l.name, l.id limit ${LOCATIONS_LIMIT}`);
}
