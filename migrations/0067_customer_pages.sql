-- What the dealer's pages of customers need: a search, and lists of one mode.

-- The words that a search finds a customer by. Each stands behind the end of the dealer's id, as those of items and orders
-- do, and is cut, because a word that is too long for the index would refuse the customer.
create function customer_search_words(
  organization_id text, first_name text, last_name text, company text, email text, phone text)
returns tsvector language sql immutable parallel safe as $$
  select coalesce(array_to_tsvector(array_agg(right(organization_id, 6) || ':' || left(word, 100))), ''::tsvector)
  from unnest(regexp_split_to_array(lower(regexp_replace(normalize(
      concat_ws(' ', first_name, last_name, company, email, phone), NFKD),
    E'[\u0300-\u036f]', '', 'g')), E'[\\s!-/:-@\\[-`{-~]+')) as word
  where word <> ''
$$;
alter table customers add column search_words tsvector
  generated always as (customer_search_words(organization_id, first_name, last_name, company, email, phone)) stored;
create index customers_search on customers using gin (search_words);

-- Ids are in the order of their making: a list of live customers must not read past all test customers.
create index customers_listed on customers (organization_id, is_test, id);
