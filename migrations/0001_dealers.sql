-- Dealers, the people who work for them, and the integrations that connect their websites.
-- Ids are text under the "C" collation: they compare byte by byte, as the TypeIDs' own order wants it.

create table organizations (
  id text collate "C" primary key,
  name text not null,
  -- False until the dealer's account is set up; integrations answer integration_not_provisioned meanwhile.
  is_provisioned boolean not null default true,
  archived_at timestamptz(3),
  has_integration_plan boolean not null default true,
  created_at timestamptz(3) not null default now()
);

-- The sign-in library's four tables (see src/dealers/sign-in.ts), with two columns of ours on users.
create table users (
  id text collate "C" primary key,
  name text not null,
  email text not null unique,
  email_verified boolean not null default false,
  image text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  organization_id text collate "C" references organizations (id) on delete cascade,
  show_test_data boolean not null default false
);
create index users_organization on users (organization_id);

create table sessions (
  id text collate "C" primary key,
  user_id text collate "C" not null references users (id) on delete cascade,
  token text not null unique,
  expires_at timestamptz(3) not null,
  ip_address text,
  user_agent text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index sessions_user on sessions (user_id);

create table accounts (
  id text collate "C" primary key,
  user_id text collate "C" not null references users (id) on delete cascade,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz(3),
  refresh_token_expires_at timestamptz(3),
  scope text,
  password text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index accounts_user on accounts (user_id);

create table verifications (
  id text collate "C" primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index verifications_identifier on verifications (identifier);

create table integrations (
  id text collate "C" primary key,
  -- Null after a detach: the key stays known, and its requests answer integration_org_missing.
  organization_id text collate "C" references organizations (id) on delete cascade,
  user_id text collate "C" references users (id) on delete set null,
  name text not null,
  -- SHA-256 of the API key. The key itself is shown once and kept nowhere.
  key_hash bytea not null unique check (octet_length(key_hash) = 32),
  -- The key's first characters, so that a dealer can tell two keys apart.
  key_hint text not null,
  is_enabled boolean not null default true,
  is_test_mode boolean not null default true,
  api_version text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- At least the dearest operation's cost, or that operation could never pass.
  rate_limit_override integer check (rate_limit_override >= 10),
  created_at timestamptz(3) not null default now()
);
create index integrations_organization on integrations (organization_id);

-- Where an integration's webhooks go. One row for each integration, made with it.
create table webhook_endpoints (
  integration_id text collate "C" primary key references integrations (id) on delete cascade,
  url text,
  is_enabled boolean not null default true,
  subscribed_events text[] not null default '{*}',
  last_success_at timestamptz(3),
  last_failure_at timestamptz(3),
  consecutive_failures integer not null default 0
);
