-- Names that say what they are. An index can be renamed while nodes of the old version run: no statement names one.
alter index deliveries_ripening rename to deliveries_waiting_due;
alter index stock_jobs_turn rename to stock_jobs_last_batch;

-- An endpoint is our record of where webhooks go; a receiver is the client's server. Nodes of the old version still read
-- webhook_receivers, which stays until a later release.
create view webhook_endpoint_states as
  select e.integration_id, e.url,
    e.url is not null and e.is_enabled and i.is_enabled
      and coalesce(o.has_integration_plan and o.is_provisioned and o.archived_at is null, false) as is_sending
  from webhook_endpoints e
  join integrations i on i.id = e.integration_id
  left join organizations o on o.id = i.organization_id;
comment on view webhook_receivers is 'For nodes of older releases. Read webhook_endpoint_states.';
