-- A job that meets a fault is tried again until it is done, so none was ever failed.
alter table channel_jobs
  drop constraint channel_jobs_status_check,
  add constraint channel_jobs_status_check check (status in ('pending', 'running', 'done'));
