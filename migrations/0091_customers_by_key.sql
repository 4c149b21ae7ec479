-- The key comes first, so that a lookup by email or phone has one index to choose. With the dealer first, a plan that was made
-- while there were no customers took another index of the dealer's, and passed over all of them for each key.
create unique index customers_email_key on customers (email_key, organization_id, is_test) where email_key is not null;
drop index customers_email;
create unique index customers_phone_key on customers (phone, organization_id, is_test) where phone is not null;
drop index customers_phone;
