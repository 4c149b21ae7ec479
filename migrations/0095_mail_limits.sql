-- What limits mail, kept apart from the mails: those go with the person they are for, and whoever removes a member and invites
-- the same address again would begin at zero.

-- How many mails were written for the people of a dealer, by hour of UTC.
create table mail_counts (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  hour timestamptz not null,
  count bigint not null,
  primary key (organization_id, hour)
);
create index mail_counts_age on mail_counts (hour);

-- A trigger counts, so that a mail counts whoever writes it, also nodes of an older version. In the order of the key, so that
-- two nodes never wait for each other.
create function count_mails() returns trigger language plpgsql as $$
begin
  insert into mail_counts (organization_id, hour, count)
  select organization_id, date_trunc('hour', created_at, 'UTC'), count(*) from written group by 1, 2 order by 1, 2
  on conflict (organization_id, hour) do update set count = mail_counts.count + excluded.count;
  return null;
end
$$;

create trigger mails_counted after insert on mails
  referencing new table as written for each statement execute function count_mails();

-- When an address was last mailed a code. It is the same for all dealers and outlives them, and nobody can read the address:
-- it is kept as the SHA-256 of its lower-case letters.
create table mail_codes (
  address_hash bytea primary key,
  mailed_at timestamptz not null
);
create index mail_codes_age on mail_codes (mailed_at);

-- What was written before counts, too.
insert into mail_counts (organization_id, hour, count)
select organization_id, date_trunc('hour', created_at, 'UTC'), count(*) from mails
where created_at > now() - interval '2 days' group by 1, 2;

insert into mail_codes (address_hash, mailed_at)
select sha256(convert_to(lower(u.email), 'UTF8')), max(m.created_at) from mails m join users u on u.id = m.user_id
where m.is_confirmation and m.created_at > now() - interval '2 days' group by 1;
