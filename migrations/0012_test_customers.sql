-- Which integrations made or wrote a test customer: an email alone does not tell, and the test data of one integration
-- must not go with another's. Live customers belong to the dealer and need no such record.
create table test_customers (
  customer_id text collate "C" not null references customers (id) on delete cascade,
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  primary key (customer_id, integration_id)
);
create index test_customers_integration on test_customers (integration_id);

-- Those from before may be anybody's, so they go with the last of the dealer's integrations.
insert into test_customers (customer_id, integration_id)
select c.id, i.id from customers c join integrations i on i.data_organization_id = c.organization_id where c.is_test;
