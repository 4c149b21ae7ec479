-- Which installation this database is. The storage of photos carries the same id, so that a database never removes files
-- that another one owns.
create table installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid(),
  created_at timestamptz(3) not null default now()
);
insert into installation default values;
