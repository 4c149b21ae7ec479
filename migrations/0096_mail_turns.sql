-- Dealers take turns with their mail: what is due is found dealer by dealer, and which dealers have a mail under way is known
-- without looking at all that is due.
create index mails_due_of_dealer on mails (organization_id, due_at) where status = 'pending';
create index mails_leased on mails (leased_until) where leased_until is not null;
drop index mails_due;
