-- What an integration's writes have stored, by day of UTC: the operator's quota is checked against it. The row changes
-- with every write, so it keeps room in its page for its next versions.
create table storage_usage (
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  day date not null,
  bytes bigint not null,
  primary key (integration_id, day)
) with (fillfactor = 50);

-- Null is the operator's setting for all.
alter table integrations add column storage_quota_mb integer check (storage_quota_mb > 0);
