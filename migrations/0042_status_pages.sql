-- A page of one status or type has an index that no other index can stand in for: whose rows and which of them are one
-- value. With columns of their own the planner took the index of the whole list and passed over what was not wanted,
-- whenever it expected most rows to be: among a million orders, ten cancelled ones took 58,000 pages.
-- The included columns spare the look into the table.

create index orders_by_status on orders (((integration_id || ' ' || status) collate "C"), updated_at desc, id desc);
drop index orders_status;

create index channel_documents_by_status on channel_documents
  (((integration_id || ' ' || api_version || ' ' || kind || ' ' || status) collate "C"), updated_at desc, item_id desc)
  include (integration_id, api_version, kind, status, is_unpriceable, valid_until);
drop index channel_documents_status;

create index events_by_type on events (((integration_id || ' ' || type) collate "C"), created_at desc, id desc)
  include (integration_id, type) where not is_suppressed;
drop index events_type;
