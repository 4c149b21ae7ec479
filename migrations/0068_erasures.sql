-- Erasing a person: the customer is empty and unknown from the first commit on. What names the person elsewhere is removed
-- afterwards by a job, in small batches, because a person can have many thousand orders.

-- Set while the job runs; nobody finds the customer any more. The row goes last, since orders refer to it.
alter table customers add column erased_at timestamptz(3);

create table erasure_jobs (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  customer_id text collate "C" not null,
  is_test boolean not null,
  -- By what the person is found: ids, contacts, external ids, and how far each clock was. Null when the job is done.
  person jsonb,
  status text not null default 'pending' check (status in ('pending', 'running', 'done')),
  -- What is being erased now, and after what the next batch begins.
  stage text not null default '',
  position jsonb,
  -- Rows that were changed.
  done bigint not null default 0,
  leased_until timestamptz(3),
  error text,
  created_at timestamptz(3) not null default clock_timestamp(),
  finished_at timestamptz(3)
);
create index erasure_jobs_unfinished on erasure_jobs (created_at) where status in ('pending', 'running');
create index erasure_jobs_organization on erasure_jobs (organization_id, created_at desc);
create index erasure_jobs_finished on erasure_jobs (finished_at) where finished_at is not null;

-- The erasure that emptied an order. Events and stored answers of such an order are emptied by it, too.
alter table orders add column erasure_id text collate "C";
create index orders_erased on orders (erasure_id, integration_id, id) where erasure_id is not null;
