-- Spends for many integrations in one statement. The requests of an integration keep their order; n is the place of a request.
--
-- Rows are locked in the order of their ids, so that two nodes can't wait for each other, and for a short time only: whoever
-- holds one of them for longer must not hold up the others. The caller then asks again with p_skips_locked, which waits for
-- nothing. A request without an answer is one whose row was not free, or whose integration is gone: spend_tokens decides it alone.
create function spend_tokens_of_many(
  p_integration_ids text[], p_caps integer[], p_costs integer[], p_now_ms bigint, p_lock_timeout_ms integer, p_skips_locked boolean)
returns table (n bigint, is_allowed boolean, remaining integer, reset_in_ms bigint, wait_ms bigint)
language plpgsql as $$
declare
  one record;
begin
  perform set_config('lock_timeout', p_lock_timeout_ms || 'ms', true);
  for one in
    select r.integration_id, r.cap, array_agg(r.cost order by r.n) as costs, array_agg(r.n order by r.n) as places
    from unnest(p_integration_ids, p_caps, p_costs) with ordinality as r (integration_id, cap, cost, n)
    group by r.integration_id, r.cap order by r.integration_id collate "C", min(r.n)
  loop
    if p_skips_locked then
      perform from rate_windows w where w.integration_id = one.integration_id for update skip locked;
      continue when not found;
    else
      perform from rate_windows w where w.integration_id = one.integration_id for update;
      -- The first request of an integration; spend_tokens makes its row.
      continue when not found and not exists (select from integrations i where i.id = one.integration_id);
    end if;
    return query
      select one.places[s.place], s.is_allowed, s.remaining, s.reset_in_ms, s.wait_ms
      from spend_tokens(one.integration_id, one.cap, one.costs, p_now_ms)
        with ordinality as s (is_allowed, remaining, reset_in_ms, wait_ms, place);
  end loop;
end;
$$;
