-- Photos were counted as none after each change of an item, so that complete items seemed to need work.
update items i set photo_count = counted.photos
from (select item_id, count(*)::integer as photos from photos group by item_id) counted
where i.id = counted.item_id and i.photo_count <> counted.photos;
