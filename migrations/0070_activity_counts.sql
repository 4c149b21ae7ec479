-- What happened in each hour, counted in the statement that records it: the plots of the home page read these few rows
-- instead of the tables they sum up.

create table activity_counts (
  integration_id text collate "C" not null,
  -- See ACTIVITY_KINDS in src/activity/activity-counts.ts.
  kind text not null,
  -- The hour of UTC.
  hour timestamptz not null,
  count bigint not null,
  primary key (integration_id, kind, hour)
  -- Room on each page, so that the row of a busy hour changes in place.
) with (fillfactor = 50);
create index activity_counts_age on activity_counts (hour);

-- Sales that are not voided, in the hour in which they were made. A trigger counts them, so that a sale, a correction of
-- its amount and a void count by whatever operation they come, also by nodes of an older version.
create table sales_counts (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  hour timestamptz not null,
  channel text collate "C" not null,
  -- Empty if nobody said what the sale brought.
  currency text not null,
  -- Sales of one dealer at the same time count in different rows, and do not wait for each other's commit.
  slot smallint not null,
  sales bigint not null,
  amount bigint not null,
  primary key (organization_id, hour, channel, currency, slot)
);
create index sales_counts_age on sales_counts (hour);

create function add_to_sales_counts(sale sales, sign integer) returns void language sql as $$
  insert into sales_counts (organization_id, hour, channel, currency, slot, sales, amount)
  values (sale.organization_id, date_trunc('hour', sale.created_at, 'UTC'), sale.channel,
    case when sale.amount is null then '' else coalesce(sale.currency, '') end,
    pg_backend_pid() % 8, sign, sign * coalesce(sale.amount, 0))
  on conflict (organization_id, hour, channel, currency, slot) do update set
    sales = sales_counts.sales + excluded.sales, amount = sales_counts.amount + excluded.amount
$$;

create function count_sale() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.status = 'completed' and not old.is_test then
    perform add_to_sales_counts(old, -1);
  end if;
  if new.status = 'completed' and not new.is_test then
    perform add_to_sales_counts(new, 1);
  end if;
  return null;
end
$$;

create trigger sales_counted after insert or update of status, amount, currency on sales
  for each row execute function count_sale();

-- The last weeks, once. What was delivered and requested is counted from now on.
insert into sales_counts (organization_id, hour, channel, currency, slot, sales, amount)
select organization_id, date_trunc('hour', created_at, 'UTC'), channel,
  case when amount is null then '' else coalesce(currency, '') end, 0, count(*), coalesce(sum(amount), 0)
from sales where status = 'completed' and not is_test and created_at > now() - interval '90 days'
group by 1, 2, 3, 4;

insert into activity_counts (integration_id, kind, hour, count)
select integration_id, 'orders', date_trunc('hour', created_at, 'UTC'), count(*)
from orders where not is_test and created_at > now() - interval '90 days'
group by 1, 3;
