import Type from 'typebox';
import {
  AUDIT_ACTION_LABELS,
  AUDIT_ACTOR_LABELS,
  AUDIT_OBJECT_KIND_LABELS,
  type AuditAction,
  type AuditActorKind,
  type AuditObjectKind,
} from '../../audit-actions.ts';
import { UNDO_LIMIT_DAYS } from '../limits.ts';
import { listOf, listQuery } from '../list.ts';
import { operation } from '../operation.ts';

const Action = Type.Unsafe<AuditAction>({ type: 'string', enum: Object.keys(AUDIT_ACTION_LABELS) });
const ObjectKind = Type.Unsafe<AuditObjectKind>({ type: 'string', enum: Object.keys(AUDIT_OBJECT_KIND_LABELS) });
const ActorKind = Type.Unsafe<AuditActorKind>({ type: 'string', enum: Object.keys(AUDIT_ACTOR_LABELS) });
const Timestamp = Type.String({ format: 'date-time' });
const OptionalText = Type.Union([Type.String(), Type.Null()]);

/** The audit row of a change, by which the change can be undone; null if nothing changed. */
export const AuditId = Type.Union([Type.String(), Type.Null()], {
  description: 'The audit row, with which the change can be undone. Null if nothing changed.',
});

/** The old and the new value of one field. A value that is absent in the log is null. */
const FieldChange = Type.Object({ field: Type.String(), old: Type.Unknown(), new: Type.Unknown() });
const Changes = Type.Array(FieldChange, { description: 'Without values that the reader may not see.' });

export const AuditEntry = Type.Object(
  {
    id: Type.String(),
    at: Timestamp,
    actor: Type.Object({
      kind: ActorKind,
      id: OptionalText,
      name: Type.Union([Type.String(), Type.Null()], {
        description: 'Of a person who is still in the team, or of a job.',
      }),
      role: OptionalText,
      address: Type.Union([Type.String(), Type.Null()], { description: 'Null also for staff, who may not see it.' }),
    }),
    action: Action,
    object: Type.Object({
      kind: ObjectKind,
      id: Type.Union([Type.String(), Type.Null()], { description: 'Null for a change of many.' }),
      name: Type.Union([Type.String(), Type.Null()], { description: 'As it is called today; null if it is gone.' }),
    }),
    object_count: Type.Integer({ description: 'How many objects a change of many had.' }),
    changes: Changes,
    personal_fields: Type.Array(Type.String(), { description: 'Changed fields about a person, without their values.' }),
    names: Type.Record(Type.String(), Type.String(), {
      description:
        'Of the ids in the changes, such as a location or a channel: how they are called today, shortened if long.',
    }),
    is_undoable: Type.Boolean({ description: `It can be undone now: for ${UNDO_LIMIT_DAYS} days, and once.` }),
    undoes: OptionalText,
    undone_by: OptionalText,
  },
  { $id: 'AuditEntry' },
);

/** The filters of the log; its export takes the same. */
const auditFilters = {
  actor: Type.Optional(Type.String({ maxLength: 50, description: 'A user’s id, or `command_line`, or `job`.' })),
  action: Type.Optional(Action),
  object_kind: Type.Optional(ObjectKind),
  object_id: Type.Optional(Type.String({ maxLength: 50 })),
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
};

export const auditOperations = {
  listAudit: operation({
    method: 'GET',
    path: '/audit',
    access: 'staff',
    description:
      'Who changed what, newest first. `q` is the id of an object. With `object_id`, the history of one object. If texts are long, a page ends at about 1 MiB and has fewer rows than `limit`; `next_cursor` goes on.',
    query: listQuery(auditFilters),
    response: listOf(AuditEntry),
  }),
  listAuditObjects: operation({
    method: 'GET',
    path: '/audit/{audit_id}/objects',
    access: 'staff',
    description:
      'What a change of many did to each of them, in the order of their ids: up to 100, fewer if texts are long.',
    params: Type.Object({ audit_id: Type.String() }),
    query: Type.Object({ after: Type.Optional(Type.String({ maxLength: 50 })) }),
    response: Type.Object({
      data: Type.Array(Type.Object({ id: Type.String(), name: OptionalText, changes: Changes })),
      next_cursor: OptionalText,
    }),
  }),
  undoAudit: operation({
    method: 'POST',
    path: '/audit/{audit_id}/undo',
    access: 'staff',
    description: `Takes back a change of one item. The undo is a new change with its own events. Fields that somebody has changed since stay as they are. 409 \`not_undoable\` if the change is older than ${UNDO_LIMIT_DAYS} days, was undone already or can’t be undone; 409 \`changed_meanwhile\` if nothing of it is left.`,
    params: Type.Object({ audit_id: Type.String() }),
    response: Type.Object({
      audit_id: AuditId,
      skipped: Type.Array(Type.String(), { description: 'Fields that were changed since.' }),
    }),
  }),
  exportAudit: operation({
    method: 'GET',
    path: '/audit/export',
    access: 'owner',
    description:
      'The log as CSV, newest first, with the filters of the list; at most 100,000 changes and 512 MB. Cells that a spreadsheet would run as formulas are text.',
    query: Type.Object(auditFilters),
    response: 'text/csv',
  }),
};
