-- A page of reservations of one status has an index that no other index can stand in for, as the pages of orders have.

create index reservations_by_status on reservations
  (((integration_id || ' ' || status) collate "C"), updated_at desc, id desc);
drop index reservations_status;
