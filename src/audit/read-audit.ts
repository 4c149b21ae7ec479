import type { AuditAction, AuditActorKind, AuditObjectKind } from '../contract/audit-actions.ts';
import { UNDO_LIMIT_DAYS } from '../contract/dashboard/limits.ts';
import { type CappedCount, COUNT_LIMIT, cappedCount } from '../contract/dashboard/list.ts';
import type { Queryable } from '../db/database.ts';
import { asRowsWithin, type RowsWithin, rowsWithin } from '../db/large-pages.ts';
import { plannedAnew, rawSql, type Sql, sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import type { Values } from './record-audit.ts';

/** The filters of the audit log of one organization. */
export type AuditFilter = {
  organizationId: string;
  actorKind?: AuditActorKind;
  /** A user's id. */
  actorId?: string;
  action?: AuditAction;
  objectKind?: AuditObjectKind;
  /** Changes of this object alone, and of many that it was one of. */
  objectId?: string;
  from?: Date;
  to?: Date;
};

/** Rows before a time (the log is read newest first) or, backwards, after it. */
export type AuditPage = AuditFilter & {
  start: { position: AuditPosition; isBackwards: boolean } | null;
  limit: number;
  /** A row may have 240 KB, two long texts before and after, so a page may end before its limit of rows. */
  bytesLimit?: number;
  /** The time, where a test owns it. */
  now?: Date | null;
};
/** The row's time, as text, and its id. */
export type AuditPosition = { value: string | null; id: string };

export type AuditRow = {
  id: string;
  at: Date;
  /** The time as the database writes it: what a page goes on from. */
  position: string;
  actorKind: AuditActorKind;
  actorId: string | null;
  actorRole: string | null;
  sourceAddress: string | null;
  action: AuditAction;
  objectKind: AuditObjectKind;
  objectId: string | null;
  /** With a filter by object, what a change of many did to this one. */
  oldValues: Values;
  newValues: Values;
  personalFields: string[];
  /** How many objects a change of many had; counting stops at COUNT_LIMIT. */
  objectCount: number;
  isUndoable: boolean;
  /** Made more than UNDO_LIMIT_DAYS ago. */
  isTooOld: boolean;
  undoes: string | null;
  undoneBy: string | null;
};

/** One page of the log, newest first. */
export async function listAudit(db: Queryable, page: AuditPage): Promise<RowsWithin<AuditRow>> {
  const { organizationId, limit, bytesLimit } = page;
  const isBackwards = page.start?.isBackwards ?? false;
  const direction = rawSql(isBackwards ? 'asc' : 'desc');
  const comparison = rawSql(isBackwards ? '>' : '<');
  const order = sql`at ${direction}, id ${direction}`;
  const position = page.start?.position ?? null;
  const behind =
    position === null ? sql`true` : sql`(a.at, a.id) ${comparison} (${position.value}::timestamptz, ${position.id})`;
  const values = sql`
    select coalesce(o.old_values, a.old_values) as old_values, coalesce(o.new_values, a.new_values) as new_values
    from audit_log a
    left join audit_log_objects o
      on o.organization_id = a.organization_id and o.audit_id = a.id and o.object_id = ${page.objectId ?? null}
    where a.organization_id = ${organizationId} and a.id = page.id limit 1`;
  // The sizes are those of the page's rows alone: beside the search they would be computed for all that it sorts.
  const sized = sql`
    select page.id, page.at, octet_length(v.old_values::text) + octet_length(v.new_values::text) as bytes
    from page cross join lateral (${values}) v`;
  const found = await db.query<AuditRow & { found: number }>(
    plannedAnew(sql`
      with page as materialized (
        select a.id, a.at from audit_log a where ${conditionOf(page)} and ${behind}
        order by a.at ${direction}, a.id ${direction} limit ${limit + 1}),
      within as materialized (
        ${rowsWithin({ rows: limit, bytes: bytesLimit }, sized, sql`id, at`, order)})
      select a.id, a.at, a.at::text as position, a.actor_kind as "actorKind", a.actor_id as "actorId",
        a.actor_role as "actorRole", a.source_address as "sourceAddress", a.action, a.object_kind as "objectKind",
        a.object_id as "objectId", v.old_values as "oldValues", v.new_values as "newValues",
        a.personal_fields as "personalFields",
        case when a.object_id is null then (
          select count(*)::integer from (
            select from audit_log_objects c where c.organization_id = a.organization_id and c.audit_id = a.id
            limit ${COUNT_LIMIT}) counted) else 1 end as "objectCount",
        a.undo is not null as "isUndoable", ${isTooOld(page.now ?? null)} as "isTooOld", a.undoes,
        ${undoneBy} as "undoneBy", page.found
      from within page
      cross join lateral (
        select organization_id, id, at, actor_kind, actor_id, actor_role, source_address, action, object_kind, object_id,
          personal_fields, undo, undoes
        from audit_log where organization_id = ${organizationId} and id = page.id limit 1) a
      cross join lateral (${values}) v
      order by page.at ${direction}, page.id ${direction}`),
  );
  const { rows, isMore } = asRowsWithin(found);
  return { rows: isBackwards ? rows.reverse() : rows, isMore };
}

/** How many rows match; counting stops at COUNT_LIMIT. */
export async function countAudit(db: Queryable, filter: AuditFilter): Promise<CappedCount> {
  const [row] = await db.query<{ count: number }>(
    plannedAnew(sql`
      select count(*)::integer as count from (
        select from audit_log a where ${conditionOf(filter)} limit ${COUNT_LIMIT + 1}) counted`),
  );
  const count = row?.count ?? 0;
  return cappedCount(count, COUNT_LIMIT);
}

/** The last change of an object by an action. */
export type LastChange = Pick<AuditRow, 'at' | 'actorKind' | 'actorId' | 'newValues'> & { objectId: string };

/**
 * For each object, the last change by its action, in one statement; none for an object that the log has forgotten. Changes of
 * many at once are not looked at.
 */
export async function lastChangesOf(
  db: Queryable,
  organizationId: string,
  objectKind: AuditObjectKind,
  wanted: readonly { objectId: string; action: AuditAction }[],
): Promise<LastChange[]> {
  return await db.query<LastChange>(
    plannedAnew(sql`
      select wanted.object_id as "objectId", last.at, last.actor_kind as "actorKind", last.actor_id as "actorId",
        last.new_values as "newValues"
      from unnest(${wanted.map(({ objectId }) => objectId)}::text[], ${wanted.map(({ action }) => action)}::text[])
        as wanted (object_id, action)
      cross join lateral (
        select a.at, a.actor_kind, a.actor_id, a.new_values from audit_log a
        where a.organization_id = ${organizationId} and a.object_kind = ${objectKind}
          and a.object_id = wanted.object_id and a.action = wanted.action
        order by a.at desc, a.id desc limit 1) last`),
  );
}

/** What a field of an object was at a row of the log: the old value of its first change since; null if there was none. */
export async function valueAt(
  db: Queryable,
  object: { organizationId: string; kind: AuditObjectKind; id: string },
  field: string,
  auditId: string,
): Promise<unknown> {
  const { organizationId, kind, id } = object;
  const [row] = await db.query<{ value: unknown }>(sql`
    select a.old_values -> ${field}::text as value from audit_log a
    where a.organization_id = ${organizationId} and a.object_kind = ${kind} and a.object_id = ${id}
      and a.old_values ? ${field}
      and a.at >= (select at from audit_log where organization_id = ${organizationId} and id = ${auditId})
    order by a.at, a.id limit 1`);
  return row?.value ?? null;
}

/** What an undo must know of the change. */
export type UndoableRow = Pick<
  AuditRow,
  'id' | 'objectKind' | 'objectId' | 'oldValues' | 'newValues' | 'undoneBy' | 'isTooOld'
> & { undo: { operation: string } | null };

/** Null if the organization has no such row. */
export async function findAuditRow(
  db: Queryable,
  organizationId: string,
  auditId: string,
  now: Date | null,
): Promise<UndoableRow | null> {
  const [row] = await db.query<UndoableRow>(sql`
    select a.id, a.object_kind as "objectKind", a.object_id as "objectId", a.old_values as "oldValues",
      a.new_values as "newValues", a.undo, ${isTooOld(now)} as "isTooOld", ${undoneBy} as "undoneBy"
    from audit_log a where a.organization_id = ${organizationId} and a.id = ${auditId}`);
  return row ?? null;
}

const undoneBy = sql`
  (select u.id from audit_log u where u.organization_id = a.organization_id and u.undoes = a.id limit 1)`;

function isTooOld(now: Date | null): Sql {
  return sql`a.at < ${clockTime(now)} - make_interval(days => ${UNDO_LIMIT_DAYS})`;
}

/** One object of a change of many. */
export type AuditObjectRow = { id: string; oldValues: Values; newValues: Values };

/** What a change of many did to each, in the order of their ids; null if there is no such change. */
export async function listAuditObjects(
  db: Queryable,
  key: { organizationId: string; auditId: string },
  { after, limit, bytesLimit }: { after: string; limit: number; bytesLimit: number },
): Promise<RowsWithin<AuditObjectRow> | null> {
  const [row] = await db.query(sql`
    select from audit_log where organization_id = ${key.organizationId} and id = ${key.auditId}`);
  if (row === undefined) return null;
  const ofChange = sql`organization_id = ${key.organizationId} and audit_id = ${key.auditId}`;
  const sized = sql`
    select object_id, octet_length(old_values::text) + octet_length(new_values::text) as bytes from audit_log_objects
    where ${ofChange} and object_id > ${after} order by object_id limit ${limit + 1}`;
  const found = await db.query<AuditObjectRow & { found: number }>(sql`
    with page as materialized (
      ${rowsWithin({ rows: limit, bytes: bytesLimit }, sized, sql`object_id`, sql`object_id`)})
    select page.object_id as id, o.old_values as "oldValues", o.new_values as "newValues", page.found
    from page cross join lateral (
      select old_values, new_values from audit_log_objects where ${ofChange} and object_id = page.object_id limit 1) o
    order by page.object_id`);
  return asRowsWithin(found);
}

/** How many objects a change of many had. */
export async function countAuditObjects(
  db: Queryable,
  key: { organizationId: string; auditId: string },
): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::integer as count from audit_log_objects
    where organization_id = ${key.organizationId} and audit_id = ${key.auditId}`);
  return row?.count ?? 0;
}

function conditionOf(filter: AuditFilter): Sql {
  const { organizationId, objectId } = filter;
  const conditions = [sql`a.organization_id = ${organizationId}`];
  if (filter.actorKind !== undefined) conditions.push(sql`a.actor_kind = ${filter.actorKind}`);
  if (filter.actorId !== undefined) conditions.push(sql`a.actor_id = ${filter.actorId}`);
  if (filter.action !== undefined) conditions.push(sql`a.action = ${filter.action}`);
  if (filter.objectKind !== undefined) conditions.push(sql`a.object_kind = ${filter.objectKind}`);
  if (filter.from !== undefined) conditions.push(sql`a.at >= ${filter.from}`);
  if (filter.to !== undefined) conditions.push(sql`a.at < ${filter.to}`);
  if (objectId !== undefined) {
    // Found by two indexes; an "or" over both tables would read the whole log of the dealer instead.
    conditions.push(sql`a.id = any(array(
      select id from audit_log where organization_id = ${organizationId} and object_id = ${objectId}
      union all
      select audit_id from audit_log_objects where organization_id = ${organizationId} and object_id = ${objectId}))`);
  }
  return conditions.reduce((all, one) => sql`${all} and ${one}`);
}
