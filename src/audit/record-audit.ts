import { isDeepStrictEqual } from 'node:util';
import type { AuditAction, AuditObjectKind } from '../contract/audit-actions.ts';
import type { Attempt } from '../db/attempts.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import { newId } from '../ids/new-id.ts';
import type { Actor } from './actor.ts';

/** Values by the name of their field, as JSON can hold them. A date is stored as its ISO text. */
export type Values = Record<string, unknown>;

export type AuditChange = {
  /** Whose data changed: the organization, the one that an integration belongs to, or null for all dealers. */
  organizationId: string | { ofIntegration: string } | null;
  action: AuditAction;
  /** The id is null for a change of many objects, which `addAuditObjects` then names. */
  object: { kind: AuditObjectKind; id: string | null };
  /** Before and after. Only the fields that differ are stored; what is made has no old values, what is deleted no new. */
  old?: Values;
  new?: Values;
  /** What the change is about besides its object, such as the channel of a toggle: stored with the new values. */
  about?: Values;
  /** Changed fields about a person, which are named without their values. */
  personal?: string[];
  /** How the change can be taken back; absent if it can't. The old values stand in the row itself. */
  undo?: { operation: string };
  /** The audit row that this change takes back. */
  undoes?: string;
  /** What a page calls the attempt, for a change that leaves no other row which could hold the name. */
  attempt?: Attempt | undefined;
  /** The time, where a test owns it. */
  at?: Date | null;
};

/** What a change of many did to one of them. */
export type AuditedObject = { id: string; old: Values; new: Values };

/** The organization of what concerns all dealers. */
const SERVICE = 'service';

/**
 * Records who changed what, in the transaction of the change. Returns the row's id, or null if there is nothing to
 * record: nothing differs, or the writer is an API key, whose writes are found by their request id.
 */
export async function recordAudit(tx: Transaction, actor: Actor, change: AuditChange): Promise<string | null> {
  if (actor.kind === 'api_key') return null;
  const { action, object, personal = [] } = change;
  const before = asJson(change.old ?? {});
  const after = asJson(change.new ?? {});
  const isEdit = change.old !== undefined && change.new !== undefined;
  const [oldValues, newValues] = isEdit ? differing(before, after) : [before, after];
  if (isEdit && Object.keys(newValues).length === 0 && personal.length === 0) return null;
  const id = newId('audit');
  const { organizationId } = change;
  const owner =
    typeof organizationId === 'object' && organizationId !== null
      ? sql`(select coalesce(organization_id, data_organization_id, ${SERVICE}) from integrations
          where id = ${organizationId.ofIntegration})`
      : sql`${organizationId ?? SERVICE}`;
  await tx.query(sql`
    insert into audit_log (organization_id, id, at, actor_kind, actor_id, actor_role, source_address, action,
      object_kind, object_id, old_values, new_values, personal_fields, undo, undoes, attempt, attempt_fingerprint)
    values (${owner}, ${id}, ${clockTime(change.at ?? null)}, ${actor.kind},
      ${actorId(actor)}, ${actor.kind === 'person' ? actor.role : null}, ${actor.kind === 'person' ? actor.address : null},
      ${action}, ${object.kind}, ${object.id}, ${JSON.stringify(oldValues)}::jsonb,
      ${JSON.stringify({ ...change.about, ...newValues })}::jsonb, ${personal}::text[], ${change.undo === undefined ? null : JSON.stringify(change.undo)}::jsonb, ${change.undoes ?? null},
      ${change.attempt?.name ?? null}, ${change.attempt?.fingerprint ?? null})`);
  return id;
}

/**
 * Adds what a change of many did to some of them, in the transaction that did it. If it met one of them before, the first
 * old values and the last new ones count.
 */
export async function addAuditObjects(
  tx: Transaction,
  organizationId: string,
  auditId: string,
  objects: AuditedObject[],
): Promise<void> {
  if (objects.length === 0) return;
  const rows = objects.map((object) => ({
    id: object.id,
    oldValues: JSON.stringify(object.old),
    newValues: JSON.stringify(object.new),
  }));
  await tx.query(sql`
    insert into audit_log_objects (organization_id, audit_id, object_id, old_values, new_values)
    select ${organizationId}, ${auditId}, id, old_values::jsonb, new_values::jsonb
    from ${unnestRows('rows', rows, OBJECT_COLUMNS)}
    on conflict (organization_id, audit_id, object_id) do update set
      old_values = excluded.old_values || audit_log_objects.old_values,
      new_values = audit_log_objects.new_values || excluded.new_values`);
}

const OBJECT_COLUMNS = { id: 'text', oldValues: 'text', newValues: 'text' } as const;

function actorId(actor: Actor): string | null {
  if (actor.kind === 'person') return actor.userId;
  return actor.kind === 'job' ? actor.name : null;
}

/** As it will be read again: dates as text, what is undefined left out. */
function asJson(values: Values): Values {
  return JSON.parse(JSON.stringify(values)) as Values;
}

function differing(before: Values, after: Values): [Values, Values] {
  const names = Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  const pick = (values: Values) => Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
  return [pick(before), pick(after)];
}
