-- Emails and phones that a customer had before somebody corrected them or merged two customers, the newest first. Texts may quote
-- them for ever, so an erasure looks for them, too.
alter table customers add column former_contacts text[] not null default '{}';
