-- An integration keeps stock, orders, events and answers of one dealer. It has to be known whose they are also while it is
-- detached, or another dealer's client would read them after an attach.

alter table integrations
  -- Null only for one that was detached before this was recorded and has left no trace of its dealer.
  add column data_organization_id text collate "C" references organizations (id) on delete cascade;
update integrations i set data_organization_id = coalesce(
  i.organization_id,
  (select o.organization_id from orders o where o.integration_id = i.id order by o.id desc limit 1),
  (select s.organization_id from publications p join items s on s.id = p.item_id where p.integration_id = i.id limit 1),
  (select c.organization_id from customer_external_ids x join customers c on c.id = x.customer_id
    where x.integration_id = i.id limit 1));
create index integrations_data_organization on integrations (data_organization_id);
alter table integrations add constraint integrations_data_of_one_dealer unique (id, data_organization_id);

-- So an order can't come in for a dealer whose integration it no longer is, and an integration with orders can't become
-- another dealer's, whatever the code does. Not valid: an order that was left behind by such a move is hidden, and must
-- not stop this migration.
alter table orders
  drop constraint orders_integration_id_fkey,
  add constraint orders_of_one_dealer foreign key (integration_id, organization_id)
    references integrations (id, data_organization_id) on delete cascade not valid;
