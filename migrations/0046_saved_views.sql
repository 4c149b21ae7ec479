-- Views of lists that people saved: a name for a search, its filters, order and columns.
create table saved_views (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  -- Who saved it. Null when that person has left: what was shared stays with the team.
  user_id text collate "C" references users (id) on delete set null,
  -- The list it belongs to, such as watches or orders.
  list text not null,
  name text not null,
  -- The query of the list's address.
  query text not null,
  is_shared boolean not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
-- Nobody has two views of one list with the same name.
create unique index saved_views_name on saved_views (organization_id, list, user_id, lower(name));
create index saved_views_user on saved_views (user_id);
