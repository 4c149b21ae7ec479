-- Whoever deletes an item first has to let the orders go that hold it: they would go on showing a match that is gone.

update order_lines set is_holding = false where item_id is null and is_holding;
alter table order_lines add constraint order_lines_hold_an_item check (item_id is not null or not is_holding);
