-- What an attempt asked for: another request under its name is refused. Rows from before have none, and answer as they did.
alter table sales add column attempt_fingerprint bytea;
alter table stock_jobs add column attempt_fingerprint bytea;
alter table audit_log add column attempt_fingerprint bytea;

-- A name is the dealer's, as with sales and jobs, and not the object's. Of several rows with one name the first keeps it.
update audit_log later set attempt = null
where attempt is not null and exists (
  select from audit_log first
  where first.organization_id = later.organization_id and first.attempt = later.attempt and first.id < later.id);
drop index audit_log_attempt;
create unique index audit_log_attempt on audit_log (organization_id, attempt) where attempt is not null;
