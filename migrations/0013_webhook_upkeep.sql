-- What a worker does again and again must cost as much as there is to do, not as much as there could be: receivers whose
-- retries wait for their time, or who are off with deliveries held, must not be looked at at every turn.

-- A retry that waits for its time is in no index that a claim reads. When its time has come it ripens: it is made due, in
-- the order of time and not of receivers, and joins the end of its receiver's queue.
alter table deliveries add column is_waiting boolean not null default false;
update deliveries set is_waiting = true where status = 'failed' and lease_token is null;
drop index deliveries_due;
create index deliveries_due on deliveries (integration_id, due_at) where status in ('pending', 'failed') and not is_waiting;
create index deliveries_ripening on deliveries (due_at) where is_waiting;
-- To hold those of one receiver.
create index deliveries_waiting on deliveries (integration_id) where is_waiting;

-- Receivers that were switched on or off, and whose deliveries have not followed yet: to be released or to be held. Off
-- for a year with a million held, a receiver costs nothing.
create table webhook_switches (
  integration_id text collate "C" primary key references integrations (id) on delete cascade,
  -- Whoever waits longest is next.
  turned_at timestamptz(3) not null default clock_timestamp()
);

-- Written by the database, since there are many ways to switch a receiver and none may be forgotten. A row that is there
-- already is locked: whoever follows an earlier switch at this moment must not take this one for done.
create function note_webhook_switch() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'organizations' then
    insert into webhook_switches (integration_id)
    select e.integration_id from webhook_endpoints e join integrations i on i.id = e.integration_id
    where i.organization_id = new.id order by e.integration_id
    on conflict (integration_id) do update set turned_at = excluded.turned_at;
  elsif tg_table_name = 'integrations' then
    insert into webhook_switches (integration_id) select e.integration_id from webhook_endpoints e where e.integration_id = new.id
    on conflict (integration_id) do update set turned_at = excluded.turned_at;
  else
    insert into webhook_switches (integration_id) values (new.integration_id)
    on conflict (integration_id) do update set turned_at = excluded.turned_at;
  end if;
  return null;
end $$;

create trigger webhook_switch after update of url, is_enabled on webhook_endpoints for each row
  when ((old.url is null) <> (new.url is null) or old.is_enabled <> new.is_enabled)
  execute function note_webhook_switch();
create trigger webhook_switch after update of is_enabled, organization_id on integrations for each row
  when (old.is_enabled <> new.is_enabled or old.organization_id is distinct from new.organization_id)
  execute function note_webhook_switch();
create trigger webhook_switch after update of has_integration_plan, is_provisioned, archived_at on organizations for each row
  when (old.has_integration_plan <> new.has_integration_plan or old.is_provisioned <> new.is_provisioned
    or (old.archived_at is null) <> (new.archived_at is null))
  execute function note_webhook_switch();

-- Whatever was on its way between on and off when this was applied.
insert into webhook_switches (integration_id) select distinct integration_id from deliveries where status = 'held'
on conflict do nothing;

-- Replays take turns, one for each integration, and tell what they could not send again.
alter table replay_jobs
  add column skipped integer not null default 0,
  add column stepped_at timestamptz(3) not null default clock_timestamp();
update replay_jobs j set status = 'cancelled', finished_at = now()
where status = 'running' and exists (
  select from replay_jobs newer
  where newer.integration_id = j.integration_id and newer.status = 'running' and newer.id > j.id);
drop index replay_jobs_running;
create index replay_jobs_running on replay_jobs (stepped_at) where status = 'running';
create unique index replay_jobs_one_running on replay_jobs (integration_id) where status = 'running';
create index replay_jobs_finished on replay_jobs (finished_at) where status <> 'running';

-- The workers that are there now, so that they can share the places of each receiver.
create table webhook_workers (
  id bigint primary key,
  seen_at timestamptz(3) not null
);
