-- How often in a row a job was claimed without a batch of it being committed: then the process that ran it has died. Such a job is
-- left alone for longer and longer, so that it can't end every process that starts. stock_jobs has the column already.
alter table channel_jobs add column attempts integer not null default 0;
alter table deletion_jobs add column attempts integer not null default 0;
alter table erasure_jobs add column attempts integer not null default 0;
