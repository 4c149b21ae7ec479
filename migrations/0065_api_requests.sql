-- The log of API requests that a dealer and the integrator can search. It holds no bodies and no data about persons.
-- There are no foreign keys: the log must never wait for a row of an integration. What was logged while its
-- integration was being deleted is pruned like everything else.

create table api_requests (
  integration_id text collate "C" not null,
  at timestamptz not null,
  request_id text collate "C" not null,
  method text not null,
  -- Null if the path is none of the API's.
  route text,
  -- A JSON array of {name, value}: known parameters alone, cursors without their value.
  query text,
  -- Null if the client went away before the answer began.
  status integer,
  code text,
  duration_ms integer not null,
  key_hint text not null,
  idempotency_key text collate "C",
  -- What a write made or changed.
  object_id text collate "C",
  -- A JSON array of {path, meant}.
  ignored_fields text,
  -- Of the first request, if this one was an idempotent replay.
  original_request_id text collate "C"
);
create index api_requests_id on api_requests (request_id);
create index api_requests_listed on api_requests (integration_id, at, request_id);
create index api_requests_errors on api_requests (integration_id, at, request_id) where status >= 400;
create index api_requests_writes on api_requests (integration_id, at, request_id) where method = 'POST';
create index api_requests_keys on api_requests (integration_id, idempotency_key) where idempotency_key is not null;
create index api_requests_age on api_requests (at);

-- What is not in the log, by the minute: reads beyond the limit, and requests that were dropped under load.
create table api_request_counts (
  integration_id text collate "C" not null,
  minute timestamptz not null,
  reads_not_logged bigint not null,
  dropped bigint not null,
  primary key (integration_id, minute)
);
create index api_request_counts_age on api_request_counts (minute);
