-- What the dealer's pages of orders and sales need: lists across integrations, a search, and what led to what.

alter table orders
  -- The API requests that reported the order and that cancelled it. Writes by an API key have no row in the audit log.
  add column request_id text,
  add column cancel_request_id text;

-- The words that a search finds an order by: the client's own number, and who bought it. Each stands behind the end of the
-- dealer's id, as those of items do. They are cut, because a word that is too long for the index would refuse the order.
create function order_search_words(organization_id text, channel_order_id text, document text)
returns tsvector language sql immutable parallel safe as $$
  select coalesce(array_to_tsvector(array_agg(right(organization_id, 6) || ':' || left(word, 100))), ''::tsvector)
  from (select document::json -> 'customer' as buyer offset 0) reported,
    unnest(regexp_split_to_array(lower(regexp_replace(normalize(
      concat_ws(' ', channel_order_id, regexp_replace(channel_order_id, E'[\\s!-/:-@\\[-`{-~]+', '', 'g'),
        buyer ->> 'first_name', buyer ->> 'last_name', buyer ->> 'email', buyer ->> 'phone', buyer ->> 'external_id',
        document::json -> 'shipping_address' ->> 'name'), NFKD),
    E'[\u0300-\u036f]', '', 'g')), E'[\\s!-/:-@\\[-`{-~]+')) as word
  where word <> ''
$$;
alter table orders add column search_words tsvector
  generated always as (order_search_words(organization_id, channel_order_id, document)) stored;
create index orders_search on orders using gin (search_words);

-- Every filter of the list is an equality in front of its order; a list without a filter merges a page of each value.
create index orders_listed on orders (organization_id, integration_id, status, is_test, created_at, id);

-- What was sold for how much, where and to whom. Null where nobody said so.
alter table sales
  -- For all units together, in minor units of the currency.
  add column amount bigint check (amount between 0 and 10000000000000000),
  add column currency text check (currency ~ '^[A-Z]{3}$'),
  -- The integration that reported it, or "counter". It stays when the integration is deleted: the sale was made.
  add column channel text collate "C" not null default 'counter',
  -- The order that it was sold by. It stays when the sale is voided.
  add column order_id text collate "C",
  -- Who bought it over the counter; the buyer of an order stands in the order. No foreign key: a sale holds the lock of its
  -- stock, and must not wait for a customer that an order is just writing.
  add column customer_id text collate "C";

create function sale_search_words(organization_id text, stock_number text, title text)
returns tsvector language sql immutable parallel safe as $$
  select coalesce(array_to_tsvector(array_agg(right(organization_id, 6) || ':' || left(word, 100))), ''::tsvector)
  from unnest(regexp_split_to_array(lower(regexp_replace(normalize(
      concat_ws(' ', stock_number, title, regexp_replace(stock_number, E'[\\s!-/:-@\\[-`{-~]+', '', 'g')), NFKD),
    E'[\u0300-\u036f]', '', 'g')), E'[\\s!-/:-@\\[-`{-~]+')) as word
  where word <> ''
$$;
alter table sales add column search_words tsvector
  generated always as (sale_search_words(organization_id, stock_number, title)) stored;
create index sales_search on sales using gin (search_words);
create index sales_listed on sales (organization_id, channel, status, is_test, created_at, id);
create index sales_customer on sales (customer_id) where customer_id is not null;
create index sales_order on sales (order_id) where order_id is not null;

update sales s set channel = l.integration_id, order_id = l.order_id, currency = reported.currency,
  amount = greatest(0, reported.unit_amount * s.units - reported.discount)
from order_lines l
join orders o on o.integration_id = l.integration_id and o.id = l.order_id
cross join lateral (
  select o.document::jsonb ->> 'currency' as currency, (line ->> 'unit_amount')::bigint as unit_amount,
    coalesce((line ->> 'discount_amount')::bigint, 0) as discount
  from jsonb_array_elements(o.document::jsonb -> 'lines') as line where line ->> 'id' = l.id) reported
where l.sale_id = s.id;

-- What an event is about. The history of an order looks for it; the index has the events of orders alone.
alter table events add column object_id text collate "C";
update events set object_id = substring(body from '"data":\{"object":\{"id":"(ord_[0-9a-z]{26})"') where type like 'order.%';
create index events_of_order on events (integration_id, object_id, id) where type like 'order.%';
