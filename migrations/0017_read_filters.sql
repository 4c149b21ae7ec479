-- Every filter that a list offers is an equality in front of the list's own order, so that a page is read from one end of an
-- index, however many rows of other statuses or types lie between. A list of several statuses merges one such page of each.

create index channel_documents_status on channel_documents
  (integration_id, api_version, kind, status, updated_at desc, item_id desc) include (is_unpriceable, valid_until);
-- The new one serves what can be sold now as well.
drop index channel_documents_active;

create index orders_status on orders (integration_id, status, updated_at desc, id desc);

create index events_type on events (integration_id, type, created_at desc, id desc) where not is_suppressed;
