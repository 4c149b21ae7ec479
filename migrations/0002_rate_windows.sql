-- The rolling rate limit, shared by all nodes: what each integration spent in the last 60 seconds.
--
-- spent_at[i] is a time in milliseconds and tokens[i] what was spent then, oldest first. One row for each
-- integration, so that a spend is one row lock; "external" storage because compressing a log that is rewritten with
-- every request costs more than it saves; the fill factor leaves room for heap-only updates.
create table rate_windows (
  integration_id text collate "C" primary key references integrations (id) on delete cascade,
  spent_at bigint[] not null default '{}',
  tokens integer[] not null default '{}'
) with (fillfactor = 50);
alter table rate_windows alter column spent_at set storage external, alter column tokens set storage external;

-- Admits or refuses several costs in their order, against one cap, and answers each as the rolling window demands:
-- in no 60 seconds are more than the cap's tokens spent. Refused costs spend nothing.
--
-- Times are the database's. Above a cap of 1000 they are rounded up to 60 ms: a spend then leaves the window up to
-- 59 ms later than it must, never sooner, and the log never has many more than a thousand entries.
create function spend_tokens(p_integration_id text, p_cap integer, p_costs integer[], p_now_ms bigint default null)
returns table (is_allowed boolean, remaining integer, reset_in_ms bigint, wait_ms bigint)
language plpgsql as $$
declare
  window_ms constant bigint := 60000;
  coarse_ms constant bigint := 60;
  grain_ms constant bigint := case when p_cap > 1000 then coarse_ms else 1 end;
  log_at bigint[];
  log_tokens integer[];
  used bigint := 0;
  now_ms bigint;
  stamp bigint;
  first_live integer := 1;
  cost integer;
  excess bigint;
  has_changed boolean := false;
begin
  -- Losing the last moments of a rate window in a crash is harmless; waiting for the disk on each request is not.
  perform set_config('synchronous_commit', 'off', true);
  insert into rate_windows (integration_id) values (p_integration_id) on conflict do nothing;
  select w.spent_at, w.tokens into log_at, log_tokens
    from rate_windows w where w.integration_id = p_integration_id for update;
  -- Read after the lock: whoever held it may have stamped a later time than the start of this statement.
  now_ms := coalesce(p_now_ms, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
  -- Rounding puts no entry further ahead than this. One that is shows that the clock was set back; left alone it would
  -- count until the clock has caught up, be that hours. From now on it counts as spent just now.
  if log_at[cardinality(log_at)] > now_ms + coarse_ms then
    log_at := array(select least(t, now_ms) from unnest(log_at) with ordinality as entry (t, n) order by n);
    has_changed := true;
  end if;
  while first_live <= cardinality(log_at) and log_at[first_live] + window_ms <= now_ms loop
    first_live := first_live + 1;
  end loop;
  log_at := log_at[first_live:];
  log_tokens := log_tokens[first_live:];
  select coalesce(sum(t), 0) into used from unnest(log_tokens) t;
  -- Never before the newest entry, which may have been rounded up: the log stays in order.
  stamp := greatest(((now_ms + grain_ms - 1) / grain_ms) * grain_ms, log_at[cardinality(log_at)]);

  foreach cost in array p_costs loop
    is_allowed := used + cost <= p_cap;
    if is_allowed then
      has_changed := true;
      used := used + cost;
      if cardinality(log_at) > 0 and log_at[cardinality(log_at)] = stamp then
        log_tokens[cardinality(log_tokens)] := log_tokens[cardinality(log_tokens)] + cost;
      else
        log_at := log_at || stamp;
        log_tokens := log_tokens || cost;
      end if;
      wait_ms := 0;
    else
      excess := used + cost - p_cap;
      wait_ms := window_ms;
      for i in 1 .. cardinality(log_at) loop
        excess := excess - log_tokens[i];
        if excess <= 0 then
          wait_ms := log_at[i] + window_ms - now_ms;
          exit;
        end if;
      end loop;
    end if;
    remaining := greatest(0, p_cap - used);
    reset_in_ms := coalesce(log_at[cardinality(log_at)] + window_ms - now_ms, 0);
    return next;
  end loop;

  -- A client that keeps knocking while it is refused costs no write.
  if has_changed then
    update rate_windows set spent_at = log_at, tokens = log_tokens where integration_id = p_integration_id;
  end if;
end;
$$;
