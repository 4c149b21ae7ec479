-- The dealer's stock: where it lies, what it is, what it costs. These are the source rows; what a client can read of
-- them is in the tables of the channel.

alter table organizations
  add column currency text not null default 'USD' check (currency ~ '^[A-Z]{3}$'),
  add column country text check (country ~ '^[A-Z]{2}$'),
  add column address_line1 text,
  add column address_line2 text,
  add column city text,
  add column state text,
  add column postal_code text,
  add column default_tax_treatment text not null default 'vat_included';

create table business_units (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null
);
create index business_units_organization on business_units (organization_id);

create table locations (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  business_unit_id text collate "C" not null references business_units (id) on delete cascade,
  name text not null
);
create index locations_organization on locations (organization_id);
create index locations_business_unit on locations (business_unit_id);

-- Watches (kind 'listing') and spare parts share everything but their attributes, so they share a table, and each
-- operation and the projection are written once for both.
create table items (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  kind text not null check (kind in ('listing', 'part')),
  stock_number text not null,
  title text not null,
  -- As the dealer typed it: || stands between paragraphs.
  description text not null default '',
  -- Minor units of the organization's currency; null is price on request.
  price_amount bigint check (price_amount between 0 and 1000000000000),
  -- Units owned, and how many of them orders or the dealer hold back. What can be sold is the difference.
  units integer not null check (units between 0 and 1000000),
  reserved_units integer not null default 0 check (reserved_units >= 0),
  is_hidden boolean not null default false,
  -- Null takes the organization's default.
  tax_treatment text,
  location_id text collate "C" references locations (id) on delete set null,
  -- Brand, model, materials and so on: checked against the contract's schema of the kind before it is written.
  attributes jsonb not null,
  created_at timestamptz(3) not null,
  check (reserved_units <= units),
  unique (organization_id, stock_number)
);
create index items_organization on items (organization_id, id);
create index items_location on items (location_id);

create table photos (
  id text collate "C" primary key,
  item_id text collate "C" not null references items (id) on delete cascade,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  position integer not null check (position >= 1),
  width integer not null check (width >= 1),
  height integer not null check (height >= 1),
  -- The format of the stored original: jpeg, png, webp, avif.
  format text not null,
  unique (item_id, position) deferrable initially deferred
);
create index photos_organization on photos (organization_id);

-- At most one promotion of an item runs at a time: the code that writes them holds the item's row and checks.
create table promotions (
  id text collate "C" primary key,
  item_id text collate "C" not null references items (id) on delete cascade,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  price_amount bigint not null check (price_amount between 0 and 1000000000000),
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3),
  check (ends_at > starts_at)
);
create index promotions_item on promotions (item_id, starts_at);
create index promotions_organization on promotions (organization_id);

-- A completed sale; voided gives the units back. The item may be deleted later, so the sale keeps its own words.
create table sales (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  item_id text collate "C" references items (id) on delete set null,
  title text not null,
  stock_number text not null,
  units integer not null check (units >= 1),
  status text not null default 'completed' check (status in ('completed', 'voided')),
  is_test boolean not null default false,
  created_at timestamptz(3) not null,
  voided_at timestamptz(3)
);
create index sales_organization on sales (organization_id, id);
create index sales_item on sales (item_id);

-- How many units of the quote currency one unit of the base currency buys.
create table exchange_rates (
  base text not null check (base ~ '^[A-Z]{3}$'),
  quote text not null check (quote ~ '^[A-Z]{3}$'),
  rate numeric(20, 10) not null check (rate > 0),
  updated_at timestamptz(3) not null default now(),
  primary key (base, quote)
);
