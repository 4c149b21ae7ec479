-- A list of stock that is filtered by price and sorted by something else reads the index of either, whichever it expects to be
-- shorter: each now also holds the other's column, so that neither way looks into the table for what it passes over.
create index items_by_creation on items (organization_id, kind, created_at, id) include (price_amount);
drop index items_newest;
create index items_by_price on items (organization_id, kind, price_amount, id) include (created_at);
drop index items_price;
create index items_by_title on items (organization_id, kind, title, id) include (price_amount);
drop index items_title;
-- The unique index of stock numbers has watches and parts in one row of numbers.
create index items_by_stock_number on items (organization_id, kind, stock_number, id) include (price_amount);

create index items_hidden on items (organization_id, kind, created_at, id) where is_hidden;
create index items_at_location on items (location_id, kind, created_at, id);
drop index items_location;
