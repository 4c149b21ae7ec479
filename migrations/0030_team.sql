-- Roles of the dealer's people, one-time links for joining and for a new password, and limits on guessing passwords.

-- Everybody who was there before may do everything, as before; so may users that a node of the old version makes.
alter table users add column role text not null default 'owner' check (role in ('owner', 'staff'));

-- A link works once: its row goes when it is used. Only a hash of the token is kept.
create table sign_in_links (
  id text collate "C" primary key,
  kind text not null check (kind in ('invitation', 'reset')),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  -- Whose password is to be set; null for an invitation, whose user is yet to be made.
  user_id text collate "C" references users (id) on delete cascade,
  email text not null,
  role text check (role in ('owner', 'staff')),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  check ((kind = 'invitation') = (user_id is null)),
  check ((kind = 'invitation') = (role is not null))
);
create index sign_in_links_organization on sign_in_links (organization_id);
create index sign_in_links_user on sign_in_links (user_id);

-- Failed attempts to sign in, counted for each account and for each address, by all nodes together.
create table sign_in_attempts (
  -- SHA-256 of what is counted: addresses of people and machines are not kept as they are.
  subject_hash bytea primary key check (octet_length(subject_hash) = 32),
  attempts integer not null,
  window_ends_at timestamptz(3) not null
);
create index sign_in_attempts_end on sign_in_attempts (window_ends_at);

-- The queue of orders that wait for the dealer, and its count beside the navigation.
create index orders_queue on orders (organization_id, id desc) where status = 'received';
