-- The channel: what each integration's client can read, and the events that changes of it are.

alter table integrations
  add column markup_basis_points integer not null default 0 check (markup_basis_points between -9900 and 100000),
  add column rounding text not null default 'none'
    check (rounding in ('none', 'to_1', 'to_5', 'to_10', 'to_50', 'to_100', 'up_to_9', 'up_to_95', 'up_to_99')),
  add column image_format text not null default 'jpeg' check (image_format in ('original', 'jpeg', 'webp', 'avif')),
  -- While set, documents are rendered for this version too, beside the pinned one.
  add column rolling_to_version text;

-- The dealer's toggle. The row stays when it is switched off: a listing that was on the channel remains readable.
create table publications (
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  item_id text collate "C" not null references items (id) on delete cascade,
  is_on boolean not null,
  published_at timestamptz(3) not null,
  primary key (integration_id, item_id)
);
create index publications_item on publications (item_id);

-- One narrow row for each integration. Whoever changes anything its client can read holds this row's lock until the
-- commit and takes the next stamp, so stamps are in the order in which readers can see them.
create table channel_clocks (
  integration_id text collate "C" primary key references integrations (id) on delete cascade,
  stamp timestamptz(3) not null
) with (fillfactor = 50);
insert into channel_clocks (integration_id, stamp) select id, now() from integrations;

-- The projection: the JSON text that a read sends, with its stamp. Kept for each version that is live.
create table channel_documents (
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  api_version text not null,
  item_id text collate "C" not null,
  kind text not null,
  status text not null,
  quantity integer not null,
  -- Text, not jsonb: the bytes that were rendered are the bytes that are sent.
  document text not null,
  -- No exchange rate: reads answer query_failed instead of serving another price.
  is_unpriceable boolean not null,
  -- When the document stops being true by itself: a promotion starts or ends.
  valid_until timestamptz(3),
  -- Which renderer and base URL made it.
  renderer text not null,
  updated_at timestamptz(3) not null,
  primary key (integration_id, api_version, item_id)
);
-- Pages read these two alone; the documents come by key. What can be sold now has an index of its own, so that a
-- history of sold items does not slow the plain list.
create index channel_documents_order on channel_documents
  (integration_id, api_version, kind, updated_at desc, item_id desc) include (status, is_unpriceable, valid_until);
create index channel_documents_active on channel_documents
  (integration_id, api_version, kind, updated_at desc, item_id desc) include (is_unpriceable, valid_until)
  where status = 'active';
create index channel_documents_due on channel_documents (valid_until) where valid_until is not null;
create index channel_documents_item on channel_documents (item_id);

-- Everything that happened on a channel, as the exact bytes that a webhook sends.
create table events (
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  id text collate "C" not null,
  type text not null,
  created_at timestamptz(3) not null,
  body text not null,
  -- An echo of the client's own write: shown to the dealer, never to the client.
  is_suppressed boolean not null default false,
  primary key (integration_id, id)
);
create index events_order on events (integration_id, created_at desc, id desc) where not is_suppressed;

-- One row for each event that a receiver is to get.
create table deliveries (
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  id text collate "C" not null,
  event_id text collate "C" not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'dead_letter', 'held')),
  attempts integer not null default 0,
  due_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (integration_id, id),
  foreign key (integration_id, event_id) references events (integration_id, id) on delete cascade
);
create index deliveries_event on deliveries (integration_id, event_id);

-- Mass changes: project all of an integration's documents anew, in batches, with whatever the settings are by then.
create table channel_jobs (
  id text collate "C" primary key,
  integration_id text collate "C" not null references integrations (id) on delete cascade,
  -- refresh: stamps and events for what differs. render: the same content in other bytes, without either.
  -- roll: documents of another version beside the pinned ones, then the pin moves.
  kind text not null check (kind in ('refresh', 'render', 'roll')),
  reasons text[] not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'done', 'failed')),
  -- The last item that is done; a crash resumes after it, a second change of settings starts over.
  position text collate "C" not null default '',
  done integer not null default 0,
  total integer not null,
  leased_until timestamptz(3),
  error text,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create unique index channel_jobs_unfinished on channel_jobs (integration_id, kind) where status in ('pending', 'running');
create index channel_jobs_integration on channel_jobs (integration_id, created_at desc);
