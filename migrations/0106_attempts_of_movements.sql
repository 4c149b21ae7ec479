-- Units that a person moves by hand leave no row of their own but their line in the audit log. It holds the name of the attempt.
alter table audit_log add column attempt text collate "C";
create unique index audit_log_attempt on audit_log (organization_id, object_id, attempt) where attempt is not null;
