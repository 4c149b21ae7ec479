-- Errors beyond the limit of a minute are counted like reads, so that one API key can't fill the disk.
alter table api_request_counts add column errors_not_logged bigint not null default 0;
