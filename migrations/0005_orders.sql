-- Customers, orders, and the records that make writes safe to retry.

-- Customers belong to the organization. Test and live customers live beside each other and never meet.
create table customers (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  is_test boolean not null,
  email text,
  -- The email as it is compared: without regard to case.
  email_key text collate "C",
  -- E.164.
  phone text collate "C",
  first_name text,
  last_name text,
  company text,
  address jsonb,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index customers_email on customers (organization_id, is_test, email_key) where email_key is not null;
create unique index customers_phone on customers (organization_id, is_test, phone) where phone is not null;
create index customers_organization on customers (organization_id, id);

-- What an integration calls a customer.
create table customer_external_ids (
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  is_test boolean not null,
  external_id text collate "C" not null,
  customer_id text collate "C" not null references customers (id) on delete cascade,
  primary key (integration_id, is_test, external_id)
);
create index customer_external_ids_customer on customer_external_ids (customer_id);

create table orders (
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  id text collate "C" not null,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  channel_order_id text collate "C" not null,
  status text not null check (status in ('received', 'matched', 'fulfilled', 'cancelled')),
  is_test boolean not null,
  customer_id text collate "C" references customers (id) on delete set null,
  -- The reported customer matches two different people, or somebody else's; the dealer has to decide.
  has_customer_conflict boolean not null default false,
  -- The order as the client reads it, stamp included: text, so that it is sent as it was written.
  document text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (integration_id, id),
  unique (integration_id, channel_order_id)
);
create index orders_order on orders (integration_id, updated_at desc, id desc) include (status);
-- Ids are in the order of their making, so this lists a dealer's orders and finds one of them by its id.
create index orders_organization on orders (organization_id, id desc);
create index orders_customer on orders (customer_id);

create table order_lines (
  integration_id text collate "C" not null,
  id text collate "C" not null,
  order_id text collate "C" not null,
  position integer not null,
  -- The item in stock that the line is matched to, and how many units of it the order holds or sold.
  item_id text collate "C" references items (id) on delete set null,
  units integer not null check (units >= 1),
  -- False for a test order: it names the item and holds nothing.
  is_holding boolean not null default false,
  sale_id text collate "C" references sales (id) on delete set null,
  primary key (integration_id, id),
  foreign key (integration_id, order_id) references orders (integration_id, id) on delete cascade
);
create index order_lines_order on order_lines (integration_id, order_id, position);
create index order_lines_item on order_lines (item_id) where item_id is not null;
create index order_lines_sale on order_lines (sale_id) where sale_id is not null;

-- The answer to a write, kept under its key. It commits with the write: there is no moment in which one exists
-- without the other.
create table idempotency_records (
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  key text collate "C" not null,
  -- SHA-256 of method, path and body.
  fingerprint bytea not null,
  status integer not null,
  body text not null,
  request_id text not null,
  -- Made in test mode: it goes when the test data goes.
  is_test boolean not null,
  created_at timestamptz(3) not null,
  primary key (integration_id, key)
);
create index idempotency_records_age on idempotency_records (created_at);
