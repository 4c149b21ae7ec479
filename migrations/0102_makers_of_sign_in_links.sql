-- Who made a link, so that it ends with the right to make it: an owner who is demoted or removed must not come back by an invitation
-- or a reset link of their own. Null if an operator made it, and for links from before, which expire in a week.
alter table sign_in_links add column made_by text collate "C" references users (id) on delete cascade;
create index sign_in_links_maker on sign_in_links (made_by) where made_by is not null;
