-- How many rows an erasure has looked at: most of its time goes into texts that do not name the person.
alter table erasure_jobs add column looked_at bigint not null default 0;
