-- Every node looks from time to time for documents that other code or another address rendered. By this index that is two
-- looks for each integration; without it, it read all documents of all dealers.
create index channel_documents_renderer on channel_documents (integration_id, renderer);

-- Finished jobs are kept for a while for whoever wonders what happened, then pruned by age.
create index channel_jobs_finished on channel_jobs (finished_at) where finished_at is not null;
