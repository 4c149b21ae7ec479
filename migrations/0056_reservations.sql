-- Reservations: units of an item that a client holds for the time of a checkout. While one is active its units are among
-- the item's reserved_units; every change of it holds the item's row (a test reservation, which holds nothing: the clock).

create table reservations (
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  id text collate "C" not null,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  is_test boolean not null,
  kind text not null check (kind in ('listing', 'part')),
  -- No foreign key: a reservation goes on naming an item that was deleted. Deleting the item ends it in the same commit.
  item_id text collate "C" not null,
  units integer not null check (units >= 1),
  reference text,
  status text not null check (status in ('active', 'used', 'released', 'expired')),
  order_id text collate "C",
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (integration_id, id),
  check ((status = 'used') = (order_id is not null))
);
create index reservations_order on reservations (integration_id, updated_at desc, id desc);
create index reservations_status on reservations (integration_id, status, updated_at desc, id desc);
create index reservations_active on reservations (integration_id, expires_at) where status = 'active';
create index reservations_item on reservations (item_id, expires_at) where status = 'active';
create index reservations_due on reservations (expires_at) where status = 'active';
create index reservations_finished on reservations (updated_at) where status <> 'active';
