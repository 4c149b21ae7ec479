-- Who changed what. A row is written in the transaction of the change, so there is none without the other. Writes by an
-- API key have none: a thousand orders a second must not write a thousand more rows.

create table audit_log (
  -- "service" for what concerns all dealers, such as an exchange rate. No foreign key: the row that says that an
  -- organization was deleted stays, and a change never waits for the organization's row.
  organization_id text collate "C" not null,
  id text collate "C" not null,
  at timestamptz(3) not null default clock_timestamp(),
  actor_kind text not null check (actor_kind in ('person', 'command_line', 'job')),
  -- The user's id or the job's name.
  actor_id text collate "C",
  actor_role text,
  source_address text,
  action text not null,
  object_kind text not null,
  -- Null for a change of many objects at once; audit_log_objects names them.
  object_id text collate "C",
  -- The fields that changed, as they were and as they are.
  old_values jsonb not null default '{}',
  new_values jsonb not null default '{}',
  -- Changed fields about a person: named, without their values.
  personal_fields text[] not null default '{}',
  -- How the change can be taken back; null if it can't.
  undo jsonb,
  -- The row that this change took back.
  undoes text collate "C",
  primary key (organization_id, id)
);
create index audit_log_time on audit_log (organization_id, at, id);
create index audit_log_object on audit_log (organization_id, object_kind, object_id, id);
create index audit_log_undoes on audit_log (organization_id, undoes) where undoes is not null;
-- For pruning, which goes by age alone.
create index audit_log_age on audit_log using brin (at) with (pages_per_range = 32);

-- What a change of many objects at once did to each of them: for its undo, and for the history of the object.
create table audit_log_objects (
  organization_id text collate "C" not null,
  audit_id text collate "C" not null,
  object_id text collate "C" not null,
  old_values jsonb not null default '{}',
  new_values jsonb not null default '{}',
  primary key (organization_id, audit_id, object_id),
  foreign key (organization_id, audit_id) references audit_log (organization_id, id) on delete cascade
);
create index audit_log_objects_object on audit_log_objects (organization_id, object_id, audit_id);
