-- The webhook engine. The deliveries table is the queue: its rows commit with the change that caused them, workers
-- claim them with a lease, and what is finished leaves the hot index.

alter table deliveries
  -- Sent so far, counting those whose outcome was never recorded; the first one carries the delivery's own id.
  add column dispatches integer not null default 0,
  -- Whoever claimed it last, and until when it is theirs. An outcome counts only with the token of its own claim; a
  -- lease that ran out is anybody's. Neither is in an index, so that claiming writes to none.
  add column lease_token bigint,
  add column leased_until timestamptz(3),
  -- Claims in a row that ended without an outcome: their worker died.
  add column takeovers integer not null default 0,
  add column last_attempt_at timestamptz(3),
  add column last_response_code integer,
  add column last_response_body text,
  add column last_error text,
  add column finished_at timestamptz(3);

create index deliveries_due on deliveries (integration_id, due_at) where status in ('pending', 'failed');
create index deliveries_held on deliveries (integration_id, due_at) where status = 'held';
create index deliveries_finished on deliveries (finished_at) where status = 'succeeded';

-- Room on each page for the version that a claim writes.
alter table deliveries set (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- An event with a delivery is pruned with it; only the others have to be found by their age.
alter table events add column has_delivery boolean not null default false;
create index events_age on events (created_at) where not has_delivery;

alter table webhook_endpoints
  -- 410 answers in a row; five turn webhooks off.
  add column consecutive_gone integer not null default 0,
  -- Why webhooks are off, if the service did it.
  add column disabled_reason text;
alter table webhook_endpoints set (fillfactor = 50);

-- Whether webhooks are sent now: there is a URL, and the webhooks, the integration, its organization and plan are on.
create view webhook_receivers as
  select e.integration_id, e.url,
    e.url is not null and e.is_enabled and i.is_enabled
      and coalesce(o.has_integration_plan and o.is_provisioned and o.archived_at is null, false) as is_sending
  from webhook_endpoints e
  join integrations i on i.id = e.integration_id
  left join organizations o on o.id = i.organization_id;

-- Signing secrets, encrypted under the service's secret keys. The newest has no end; one that was rotated away signs
-- along until it expires.
create table webhook_secrets (
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  id bigint generated always as identity,
  ciphertext text not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  primary key (integration_id, id)
);

-- Many deliveries sent again, at a slower pace than live ones.
create table replay_jobs (
  id text collate "C" primary key,
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  since timestamptz(3),
  until timestamptz(3),
  types text[],
  statuses text[] not null,
  status text not null default 'running' check (status in ('running', 'done', 'cancelled')),
  -- The newest delivery when the job was made, and the last one that was requeued. Ids are in the order of their making.
  last_id text collate "C" not null,
  position_id text collate "C" not null default '',
  done integer not null default 0,
  total integer not null,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create index replay_jobs_running on replay_jobs (created_at) where status = 'running';
create index replay_jobs_integration on replay_jobs (integration_id, created_at desc);
