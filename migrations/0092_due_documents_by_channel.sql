-- What is due of one channel, without passing over what is due of the others: dealers take turns, and a read that meets a due
-- document looks for those of its own channel. The time is written otherwise than in the index of all that is due, so that
-- the planner can't take that one instead.
create index channel_documents_due_of_channel on channel_documents
  (integration_id, api_version, (valid_until at time zone 'UTC')) where valid_until is not null;
