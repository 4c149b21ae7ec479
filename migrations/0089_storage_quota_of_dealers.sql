-- What the people of a dealer and its jobs have stored, by day of UTC: the operator's quota is checked against it. The row
-- changes with every change that they make, so it keeps room in its page for its next versions.
create table organization_storage_usage (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  day date not null,
  bytes bigint not null,
  primary key (organization_id, day)
) with (fillfactor = 50);

-- Null is the operator's setting for all.
alter table organizations add column storage_quota_mb integer check (storage_quota_mb > 0);
