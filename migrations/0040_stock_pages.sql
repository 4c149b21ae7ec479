-- What the dealer's own pages need of an item: fields that no client ever reads, the revision of what people typed, and
-- what lists search, filter and sort by.

alter table items
  -- Raised by every edit of what people type; a save that began from an older one is refused.
  add column revision integer not null default 1,
  add column edited_at timestamptz(3),
  add column serial_number text,
  add column cost_amount bigint check (cost_amount between 0 and 1000000000000),
  add column private_notes text not null default '',
  -- Summaries of other tables, so that a list filters by them with an index: see inventory/stock-summary.ts.
  add column channel_count integer not null default 0,
  add column photo_count integer not null default 0,
  add column stock_status text not null generated always as (
    case when units = 0 then 'sold' when reserved_units = units then 'reserved' else 'in_stock' end) stored;
-- What a buyer would miss; an item that misses nothing is complete.
alter table items add column missing text[] not null generated always as (array_remove(array[
    case when photo_count = 0 then 'photos' end,
    case when price_amount is null then 'price' end,
    case when description = '' then 'description' end,
    case when kind = 'listing' and attributes ->> 'reference_number' is null then 'reference_number' end,
    case when kind = 'listing' and attributes ->> 'year' is null then 'year' end,
    case when kind = 'listing' and attributes ->> 'movement' is null then 'movement' end,
    case when kind = 'listing' and attributes ->> 'case_material' is null then 'case_material' end,
    case when kind = 'listing' and attributes ->> 'case_diameter_mm' is null then 'case_diameter_mm' end,
    case when kind = 'part' and attributes ->> 'part_number' is null then 'part_number' end,
    case when kind = 'part' and attributes -> 'compatibility' = '[]'::jsonb then 'compatibility' end], null)) stored;

-- Text as a search sees it: without accents and case, split at punctuation. It names functions of PostgreSQL alone, since
-- a generated column must be restorable without a search path.
create function search_words(text) returns text[] language sql immutable parallel safe as $$
  select array_remove(regexp_split_to_array(
    lower(regexp_replace(normalize($1, NFKD), E'[\u0300-\u036f]', '', 'g')), E'[\\s!-/:-@\\[-`{-~]+'), '')
$$;

-- The words that a search finds an item by. Each stands behind the end of the dealer's id, so that a search reads hardly
-- any other dealer's words. Numbers are also found without their punctuation: W-1042 by w, 1042 and w1042.
create function item_search_words(organization_id text, stock_number text, title text, attributes jsonb)
returns tsvector language sql immutable parallel safe as $$
  select coalesce(array_to_tsvector(array_agg(right(organization_id, 6) || ':' || word)), ''::tsvector)
  from unnest(regexp_split_to_array(lower(regexp_replace(normalize(
      concat_ws(' ', stock_number, title, attributes ->> 'brand', attributes ->> 'model',
        attributes ->> 'reference_number', attributes ->> 'part_number', attributes ->> 'caliber',
        regexp_replace(stock_number, E'[\\s!-/:-@\\[-`{-~]+', '', 'g'),
        regexp_replace(attributes ->> 'reference_number', E'[\\s!-/:-@\\[-`{-~]+', '', 'g'),
        regexp_replace(attributes ->> 'part_number', E'[\\s!-/:-@\\[-`{-~]+', '', 'g')), NFKD),
    E'[\u0300-\u036f]', '', 'g')), E'[\\s!-/:-@\\[-`{-~]+')) as word
  where word <> ''
$$;
alter table items add column search_words tsvector
  generated always as (item_search_words(organization_id, stock_number, title, attributes)) stored;
create index items_search on items using gin (search_words);

-- The orders of a list. The default order also has an index for each filter of the tabs.
create index items_newest on items (organization_id, kind, created_at, id);
create index items_status on items (organization_id, kind, stock_status, created_at, id);
create index items_price on items (organization_id, kind, price_amount, id);
create index items_title on items (organization_id, kind, title, id);
create index items_brand on items (organization_id, kind, (attributes ->> 'brand'), created_at, id);
create index items_on_no_channel on items (organization_id, kind, created_at, id) where channel_count = 0;
create index items_needing_work on items (organization_id, kind, created_at, id) where missing <> '{}';

update items i set
  channel_count = (select count(*) from publications p where p.item_id = i.id and p.is_on),
  photo_count = (select count(*) from photos p where p.item_id = i.id);
