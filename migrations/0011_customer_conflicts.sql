-- The orders whose buyer the dealer has to decide on: few among many, looked for by every merge of two customers.
create index orders_conflicts on orders (organization_id, id desc) where has_customer_conflict;
