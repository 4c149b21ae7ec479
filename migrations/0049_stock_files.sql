-- Files of stock that a dealer uploaded for an import, as the lines they were read into: a job takes up where it was without
-- reading the file again. They are deleted some days later.
create table stock_files (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  item_kind text not null check (item_kind in ('listing', 'part')),
  header text[] not null,
  line_count integer not null default 0,
  -- False while it is being read; a file that was cut off is never imported.
  is_complete boolean not null default false,
  -- Of the zip with photos beside it, null if there is none.
  zip_name text,
  zip_bytes bigint,
  created_at timestamptz(3) not null default clock_timestamp()
);
create index stock_files_organization on stock_files (organization_id, created_at);
create index stock_files_age on stock_files (created_at);

create table stock_file_lines (
  file_id text collate "C" not null references stock_files (id) on delete cascade,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  -- From 1 on, without gaps; `line` is where it begins in the file.
  number integer not null,
  line integer not null,
  cells text[] not null,
  -- Filled in when the columns are known.
  stock_number text,
  primary key (file_id, number)
);
create index stock_file_lines_stock_number on stock_file_lines (file_id, stock_number);
create index stock_file_lines_organization on stock_file_lines (organization_id);

-- The bytes of a zip with photos.
create table stock_file_pieces (
  file_id text collate "C" not null references stock_files (id) on delete cascade,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  number integer not null,
  bytes bytea not null,
  primary key (file_id, number)
);
-- Compressed already.
alter table stock_file_pieces alter column bytes set storage external;
create index stock_file_pieces_organization on stock_file_pieces (organization_id);

-- Which column means what, as the dealer said for a file with the same headings.
create table stock_column_mappings (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  item_kind text not null,
  -- A digest of the headings.
  header_key text not null,
  columns text[] not null,
  used_at timestamptz(3) not null default clock_timestamp(),
  primary key (organization_id, item_kind, header_key)
);

-- Where an import took a photo from, so that the same file the next night does not bring it again, also if the dealer has
-- removed it meanwhile.
create table photo_sources (
  item_id text collate "C" not null references items (id) on delete cascade,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  -- A digest of the address, or of the bytes of a file in a zip.
  source text not null,
  photo_id text collate "C" not null,
  primary key (item_id, source)
);
create index photo_sources_organization on photo_sources (organization_id);
