-- The name that a page gives to what somebody is about to do. If its answer is lost on the way and the person tries again, it is
-- found by this name and done once.
alter table sales add column attempt text collate "C";
create unique index sales_attempt on sales (organization_id, attempt) where attempt is not null;
alter table stock_jobs add column attempt text collate "C";
create unique index stock_jobs_attempt on stock_jobs (organization_id, attempt) where attempt is not null;
