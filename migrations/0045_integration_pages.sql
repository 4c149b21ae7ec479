-- When an integration's key was used last, written once a minute at most. A table of its own: the row of the integration
-- is locked by whoever changes its settings, and is read by every request.
create table integration_usage (
  integration_id text collate "C" primary key references integrations (id) on delete cascade,
  last_used_at timestamptz(3) not null
) with (fillfactor = 50);

-- Test orders are few among many: they are counted on the page of an integration, and deleted when it goes live.
create index orders_test on orders (integration_id) where is_test;
