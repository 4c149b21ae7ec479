-- The upload of a zip that is arriving, and when its last piece came. Null if none is. Pieces are stored only for the upload
-- that is named here, so two uploads beside the same file can't mix.
alter table stock_files
  add column zip_upload_id text collate "C",
  add column zip_upload_at timestamptz(3);
