-- What the dealer's pages of deliveries and events need: every failed attempt, why an event was not sent, and lists that read
-- no more than a page.

-- An attempt that failed. One that succeeded stands in the columns of its delivery alone, so that a delivery that succeeds at
-- once costs no further row. What was signed is the event's body; the signature is computed again when somebody looks.
create table delivery_attempts (
  integration_id text collate "C" not null,
  delivery_id text collate "C" not null,
  -- How often the delivery was sent before; the id that the attempt carried comes from it.
  dispatch integer not null,
  -- Which attempt it was since the delivery was made or queued again, from 1.
  attempt integer not null,
  url text not null,
  -- The signature's `t` is its second.
  started_at timestamptz(3) not null,
  ended_at timestamptz(3) not null,
  duration_ms integer not null,
  response_code integer,
  -- The first 1 KiB.
  response_body text,
  error text,
  primary key (integration_id, delivery_id, dispatch),
  foreign key (integration_id, delivery_id) references deliveries (integration_id, id) on delete cascade
);

-- The last attempt, beside what there was of it already.
alter table deliveries
  add column last_url text,
  add column last_started_at timestamptz(3),
  add column last_duration_ms integer,
  add column last_dispatch integer,
  add column last_attempt integer;

-- Those that did not arrive, newest first. A delivery that succeeds at once is never in it. Whose rows and which of them are one
-- value, so that no other index can stand in for it.
create index deliveries_undelivered on deliveries (((integration_id || ' ' || status) collate "C"), id)
  where status in ('failed', 'dead_letter', 'held');

-- Why an event has no delivery; null if it has one.
alter table events add column unsent_reason text
  check (unsent_reason in ('echo', 'no_url', 'not_subscribed', 'test_deleted', 'unknown'));
update events set unsent_reason = case when is_suppressed then 'echo' else 'unknown' end where not has_delivery;
create index events_unsent on events (((integration_id || ' ' || unsent_reason || ' ' || type) collate "C"), id)
  where unsent_reason is not null;

-- Events are found by what they are about, whatever that is; until now only by orders.
update events set object_id = substring(body from '"data":\{"object":\{"id":"([a-z]{3}_[0-9a-z]{26})"') where object_id is null;
create index events_of_object on events (integration_id, object_id, id);
drop index events_of_order;
