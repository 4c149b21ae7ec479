-- Settings of the business that people change on its page, and what the page of the audit log reads by.

alter table organizations
  -- A name of the IANA database. What people type as a local time, such as the begin of a promotion, is meant in it.
  add column time_zone text not null default 'UTC',
  -- Raised by every change of the settings; a save that began from an older one is refused.
  add column settings_revision integer not null default 1,
  -- Cost prices are the owners' alone unless they say otherwise.
  add column staff_sees_cost boolean not null default false;

-- The log is read by time, newest first, narrowed by one of these.
create index audit_log_actor on audit_log (organization_id, actor_id, at, id) where actor_id is not null;
create index audit_log_action on audit_log (organization_id, action, at, id);
create index audit_log_kind on audit_log (organization_id, object_kind, at, id);
-- The history of one object, whose id alone names it.
create index audit_log_object_id on audit_log (organization_id, object_id, at, id) where object_id is not null;
