-- Deleting an integration or an organization: the key is unknown and nobody can sign in from the first commit on. What
-- belongs to it is removed afterwards by a job, in small batches. One statement for all of it met the statement timeout
-- at 450,000 events.

-- Set while the rows of what was deleted are being removed; the row itself goes last.
alter table integrations add column deleted_at timestamptz(3);
alter table organizations add column deleted_at timestamptz(3);

-- No foreign keys: a job outlives what it deletes, for whoever wonders what happened.
create table deletion_jobs (
  id text collate "C" primary key,
  -- Null only for an integration that was detached before its dealer was recorded.
  organization_id text collate "C",
  -- Null for a whole organization.
  integration_id text collate "C",
  status text not null default 'pending' check (status in ('pending', 'running', 'done')),
  -- What is being removed now.
  stage text not null default '',
  -- Rows, and how many there were when the job began to run; null before that.
  done bigint not null default 0,
  total bigint,
  leased_until timestamptz(3),
  error text,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create index deletion_jobs_unfinished on deletion_jobs (created_at) where status in ('pending', 'running');
create index deletion_jobs_organization on deletion_jobs (organization_id, created_at desc);
create index deletion_jobs_finished on deletion_jobs (finished_at) where finished_at is not null;

-- A user that is deleted is looked for here.
create index integrations_user on integrations (user_id) where user_id is not null;
