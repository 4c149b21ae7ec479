import type { Static } from 'typebox';
import {
  type AuditFilter,
  type AuditRow,
  countAudit,
  listAudit,
  listAuditObjects,
} from '../../../../audit/read-audit.ts';
import type { Values } from '../../../../audit/record-audit.ts';
import {
  AUDIT_ACTOR_LABELS,
  AUDIT_OBJECT_KIND_LABELS,
  auditActionText,
  auditJobName,
} from '../../../../contract/audit-actions.ts';
import { LIST_PAGE_BYTES } from '../../../../contract/dashboard/list.ts';
import type { AuditEntry, auditOperations } from '../../../../contract/dashboard/organization/audit.ts';
import { DomainError } from '../../../../contract/domain-error.ts';
import type { Queryable } from '../../../../db/database.ts';
import { PIECE_BYTES } from '../../../../db/large-pages.ts';
import { isOfUndoableKind, undoChange } from '../../../../inventory/items/undo-change.ts';
import type { Handlers, SignedIn } from '../../call.ts';
import { sendCsv } from '../../lists/csv-export.ts';
import { pageRequestOf, readPage } from '../../lists/list-page.ts';
import { namesOfObjects } from '../../presenters/object-names.ts';

/** The log has one order. */
const SORT = '-at';
const OBJECTS_LIMIT = 100;
/** An order names the items of all its lines, and each may have a long title. The item's own page has it in full. */
const NAME_LENGTH_LIMIT = 100;

export const auditHandlers: Handlers<typeof auditOperations> = {
  async listAudit({ context, user, query }) {
    const request = pageRequestOf(query, SORT);
    const filter = filterOf(user, query);
    const limits = { limit: request.limit, bytesLimit: LIST_PAGE_BYTES };
    const now = context.channel.now();
    const { rows, page } = await readPage(request, SORT, {
      read: () => listAudit(context.db, { ...filter, ...limits, start: request.from, now }),
      count: () => countAudit(context.db, filter),
      positionOf: (row) => ({ value: row.position, id: row.id }),
    });
    return { data: await presentRows(context.db, user, rows), ...page };
  },

  async listAuditObjects({ context, user, params, query }) {
    const key = { organizationId: user.organizationId, auditId: params.audit_id };
    const limits = { limit: OBJECTS_LIMIT, bytesLimit: LIST_PAGE_BYTES };
    const found = await listAuditObjects(context.db, key, { ...limits, after: query.after ?? '' });
    if (found === null) throw new DomainError('not_found', 'There is no such change.');
    const { rows, isMore } = found;
    const names = await namesOfObjects(
      context.db,
      user.organizationId,
      rows.map(({ id }) => id),
    );
    return {
      data: rows.map(({ id, oldValues, newValues }) => ({
        id,
        name: names.get(id) ?? null,
        changes: presentChanges(oldValues, newValues, user.seesCost),
      })),
      next_cursor: isMore ? (rows.at(-1)?.id ?? null) : null,
    };
  },

  async undoAudit({ context, user, actor, params }) {
    const options = { isCostAllowed: user.seesCost };
    const undone = await undoChange(context.channel, actor, user.organizationId, params.audit_id, options);
    context.dashboard.feed.notify(user.organizationId, 'item', [undone.itemId]);
    context.dashboard.feed.notify(user.organizationId, 'audit', null);
    return { audit_id: undone.auditId, skipped: undone.skipped };
  },

  async exportAudit({ context, user, query, reply }) {
    const filter = filterOf(user, query);
    return await sendCsv({ user, reply }, 'audit.csv', {
      header: EXPORT_HEADER,
      read: (start, limit) => listAudit(context.db, { ...filter, start, limit, bytesLimit: PIECE_BYTES }),
      cellsOf: async (rows) => (await presentRows(context.db, user, rows)).map(exportCells),
    });
  },
};

type FilterQuery = {
  q?: string;
  actor?: string;
  from?: string;
  to?: string;
  object_id?: string;
  object_kind?: AuditRow['objectKind'];
  action?: AuditRow['action'];
};

function filterOf({ organizationId }: SignedIn, query: FilterQuery): AuditFilter {
  const { actor, action, object_kind: objectKind, from, to } = query;
  const searched = query.q?.trim() ?? '';
  const objectId = query.object_id ?? (searched === '' ? undefined : searched);
  const isKind = actor === 'command_line' || actor === 'job';
  return {
    organizationId,
    ...(isKind ? { actorKind: actor } : actor === undefined ? {} : { actorId: actor }),
    ...(action === undefined ? {} : { action }),
    ...(objectKind === undefined ? {} : { objectKind }),
    ...(objectId === undefined ? {} : { objectId }),
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: new Date(to) }),
  };
}

type Entry = Static<typeof AuditEntry>;

async function presentRows(db: Queryable, user: SignedIn, rows: AuditRow[]): Promise<Entry[]> {
  const ids = rows.flatMap(({ actorId, objectId, oldValues, newValues }) => [
    ...[actorId, objectId].filter((id) => id !== null),
    ...idsIn([oldValues, newValues]),
  ]);
  const names = await namesOfObjects(db, user.organizationId, ids);
  return rows.map((row) => ({
    id: row.id,
    at: row.at.toISOString(),
    actor: {
      kind: row.actorKind,
      id: row.actorId,
      name: row.actorKind === 'job' ? auditJobName(row.actorId) : (names.get(row.actorId ?? '') ?? null),
      role: row.actorRole,
      address: user.role === 'owner' ? row.sourceAddress : null,
    },
    action: row.action,
    object: { kind: row.objectKind, id: row.objectId, name: names.get(row.objectId ?? '') ?? null },
    object_count: row.objectCount,
    changes: presentChanges(row.oldValues, row.newValues, user.seesCost),
    personal_fields: row.personalFields,
    names: Object.fromEntries(idsIn([row.oldValues, row.newValues]).flatMap((id) => nameOf(names, id))),
    is_undoable: row.isUndoable && isOfUndoableKind(row) && !row.isTooOld && row.undoneBy === null,
    undoes: row.undoes,
    undone_by: row.undoneBy,
  }));
}

const ID = /^[a-z]{3}_\w{26}$/;

/** The ids among values, to be shown by the names of what they mean. */
function idsIn(value: unknown): string[] {
  if (typeof value === 'string') return ID.test(value) ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(idsIn) : [];
}

function nameOf(names: Map<string, string>, id: string): [string, string][] {
  const name = names.get(id);
  if (name === undefined) return [];
  return [[id, name.length > NAME_LENGTH_LIMIT ? `${name.slice(0, NAME_LENGTH_LIMIT).toWellFormed()}…` : name]];
}

/** The cost price of an item is the one value in the log that not everybody may see. */
const COST_FIELD = 'costAmount';

function presentChanges(oldValues: Values, newValues: Values, mayCost: boolean): Entry['changes'] {
  const fields = [...new Set([...Object.keys(oldValues), ...Object.keys(newValues)])];
  return fields
    .filter((field) => mayCost || field !== COST_FIELD)
    .map((field) => ({ field, old: oldValues[field] ?? null, new: newValues[field] ?? null }));
}

const EXPORT_HEADER = [
  'time',
  'who',
  'role',
  'address',
  'action',
  'kind',
  'id',
  'name',
  'objects',
  'old',
  'new',
  'audit id',
];

function exportCells(entry: Entry): string[] {
  const { actor, object, changes, personal_fields: personal } = entry;
  const side = (which: 'old' | 'new') =>
    JSON.stringify(Object.fromEntries(changes.map((one) => [one.field, one[which]])));
  return [
    entry.at,
    actor.name ?? actor.id ?? AUDIT_ACTOR_LABELS[actor.kind],
    actor.role ?? '',
    actor.address ?? '',
    auditActionText(entry.action, Object.fromEntries(changes.map((one) => [one.field, one.new]))),
    AUDIT_OBJECT_KIND_LABELS[object.kind],
    object.id ?? '',
    object.name ?? '',
    String(entry.object_count),
    side('old'),
    personal.length === 0 ? side('new') : `${side('new')} (${personal.join(', ')})`,
    entry.id,
  ];
}
