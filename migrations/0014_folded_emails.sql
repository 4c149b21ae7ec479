-- Emails are compared by Unicode's case folding now, not by lower case alone; these are the letters of living languages for
-- which the two differ. Where that would make one of two customers, they stay two until the dealer merges them.
with folded as (
  select distinct on (organization_id, is_test, folded_key) id, organization_id, is_test, folded_key
  from (
    select id, organization_id, is_test, replace(replace(replace(email_key, 'ß', 'ss'), 'ς', 'σ'), 'ſ', 's') as folded_key
    from customers where email_key ~ '[ßςſ]'
  ) renamed
  order by organization_id, is_test, folded_key, id
)
update customers c set email_key = f.folded_key
from folded f
where c.id = f.id and not exists (
  select from customers other
  where other.organization_id = f.organization_id and other.is_test = f.is_test and other.email_key = f.folded_key);
