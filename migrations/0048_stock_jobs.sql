-- Long work on a dealer's stock: bulk changes, imports and their undo. A job runs in batches of one transaction each, which
-- also stores how far it is: a batch is done and counted, or neither. What each item was before stands in
-- audit_log_objects under the job's one audit row, for the item's history and for the undo.
create table stock_jobs (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  kind text not null,
  -- What people read in the list, such as the name of the file.
  title text not null,
  -- Who asked for it: an actor of the audit log.
  actor jsonb not null,
  parameters jsonb not null default '{}',
  status text not null default 'queued' check (status in ('queued', 'running', 'done', 'cancelled', 'failed')),
  -- Null until it is counted.
  total integer,
  done integer not null default 0,
  -- The result: how many were changed, created, skipped and so on.
  counts jsonb not null default '{}',
  -- Where the next batch begins; its kind knows what it means.
  position text not null default '',
  is_undoable boolean not null default false,
  audit_id text collate "C",
  -- The job that this one takes back. No reference: jobs are pruned one by one.
  undoes text collate "C",
  -- Raised by every claim. A worker that lost its lease can't commit its batch, since the number is another one.
  fence integer not null default 0,
  leased_until timestamptz(3),
  last_batch_at timestamptz(3),
  -- Faults in a row.
  attempts integer not null default 0,
  error text,
  created_at timestamptz(3) not null default clock_timestamp(),
  started_at timestamptz(3),
  finished_at timestamptz(3)
);
create index stock_jobs_unfinished on stock_jobs (organization_id, created_at, id) where status in ('queued', 'running');
create index stock_jobs_newest on stock_jobs (organization_id, created_at, id);
create index stock_jobs_turn on stock_jobs (organization_id, last_batch_at) where last_batch_at is not null;
create index stock_jobs_finished on stock_jobs (finished_at) where finished_at is not null;
-- A job is taken back once, unless the undo itself failed or was cancelled.
create unique index stock_jobs_undoes on stock_jobs (undoes) where undoes is not null and status in ('queued', 'running', 'done');

-- What a job could not do: one line for each item or line of a file.
create table stock_job_errors (
  job_id text collate "C" not null references stock_jobs (id) on delete cascade,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  number integer not null,
  -- The line of the file, for an import.
  line integer,
  item_id text collate "C",
  stock_number text,
  -- The column or field that is to blame, if one is.
  field text,
  message text not null,
  primary key (job_id, number)
);
create index stock_job_errors_organization on stock_job_errors (organization_id);
