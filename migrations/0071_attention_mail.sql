-- Mail about what needs attention: which kinds each person wants, and the mails that are to be sent.

create table mail_subscriptions (
  user_id text collate "C" not null references users (id) on delete cascade,
  -- Of activity_counts.
  kind text not null,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  -- Everything before this hour was told, and so many of it.
  told_hour timestamptz not null,
  told_count bigint not null,
  mailed_at timestamptz,
  primary key (user_id, kind)
);
create index mail_subscriptions_organization on mail_subscriptions (organization_id);

-- It holds no text and no address: both are made when the mail is sent.
create table mails (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  user_id text collate "C" not null references users (id) on delete cascade,
  -- How many of each kind: {"orders": 2}.
  counts jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'sent', 'failed')),
  attempts integer not null default 0,
  due_at timestamptz not null,
  leased_until timestamptz,
  lease_token bigint,
  last_error text,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index mails_due on mails (due_at) where status = 'pending';
create index mails_finished on mails (finished_at) where finished_at is not null;
create index mails_user on mails (user_id);
create index mails_organization on mails (organization_id);
