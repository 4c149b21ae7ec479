-- Batches that wait for servers of others, as for photos that are downloaded, run in slots of their own. The batch before
-- says what kind the next one is.
alter table stock_jobs add column is_remote boolean not null default false;

-- Who uploaded a file: whoever does not see cost prices reads only files of their own. Null for those of the command line and
-- those that were uploaded before.
alter table stock_files add column uploaded_by text collate "C";
