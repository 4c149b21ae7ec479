-- Photos that were taken away. Their files are kept for some time, so that they can be put back.
create table removed_photos (
  id text collate "C" primary key,
  item_id text collate "C" not null references items (id) on delete cascade,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  -- Where it was.
  position integer not null,
  width integer not null,
  height integer not null,
  format text not null,
  removed_at timestamptz(3) not null
);
create index removed_photos_item on removed_photos (item_id);
create index removed_photos_organization on removed_photos (organization_id);
create index removed_photos_age on removed_photos (removed_at);
