-- When a person entered the code that was mailed to their address. Until then, nothing else is mailed there. Whoever had
-- chosen mail before keeps it.
alter table users add column mail_confirmed_at timestamptz;
update users u set mail_confirmed_at = now() where exists (select from mail_subscriptions s where s.user_id = u.id);

-- A mail with that code; it has no counts.
alter table mails add column is_confirmation boolean not null default false;
