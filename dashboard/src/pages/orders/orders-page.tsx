import { Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import {
  ORDER_STATUS_LABELS,
  ORDER_TABS,
  type OrderTab,
} from '../../../../src/contract/dashboard/orders/order-labels.ts';
import { apiUrl, type Input } from '../../api/client.ts';
import { useKeptQuery } from '../../api/queries.ts';
import { formatMoney } from '../../format.ts';
import { paths } from '../../paths.ts';
import type { Column } from '../../table/columns.ts';
import { DataTable } from '../../table/data-table.tsx';
import { integrationFilter, periodFilter, TEST_DATA_FILTER, withOptions } from '../../table/filters/filter-choices.ts';
import { useListPage } from '../../table/list-page.ts';
import { listQueryOf, matchQueryOf } from '../../table/list-state.ts';
import { Clipped } from '../../ui/clipped.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { ExportButton } from '../../ui/export-button.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { ListTabs } from '../../ui/page/list-tabs.tsx';
import { Page } from '../../ui/page/page.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { Status } from '../../ui/status.tsx';
import { TestBadge } from '../../ui/test-badge.tsx';
import { Thumbnail } from '../../ui/thumbnail.tsx';
import { Time } from '../../ui/time.tsx';
import { type OrderRow, orderChoicesQuery, ordersQuery } from './order-queries.ts';
import { OrderStatus } from './order-status.tsx';

const TABS: { id: OrderTab; label: string }[] = [
  { id: 'queue', label: 'Queue' },
  { id: 'matched', label: ORDER_STATUS_LABELS.matched },
  { id: 'fulfilled', label: ORDER_STATUS_LABELS.fulfilled },
  { id: 'cancelled', label: ORDER_STATUS_LABELS.cancelled },
  { id: 'all', label: 'All' },
];
const FILTER_NAMES = ['tab', 'integration_id', 'period', 'test', 'conflict', 'customer_id'];

/** Orders of all channels. The tab is a filter like the others, and the queue is the plain list. */
export function OrdersPage() {
  const { state, list } = useListPage(FILTER_NAMES, (query) => ordersQuery({ ...query, tab: tabOf(query) }));
  const tab = tabOf(state.filters);
  const { tab: _tab, ...counted } = listQueryOf(state);
  const { data: choices } = useKeptQuery(orderChoicesQuery(counted));
  const names = useMemo(() => new Map(choices?.channels.map((one) => [one.integration_id, one.name])), [choices]);
  const columns = useMemo(() => columnsOf(names), [names]);
  const { customer_id: customerId = '' } = state.filters;
  const exported = { ...matchQueryOf(state), tab };
  const exportUrl = apiUrl('GET /orders/export.csv', { query: exported as Input<'GET /orders/export.csv'>['query'] });
  const filters = useMemo(() => filtersOf(names, customerId), [names, customerId]);
  return (
    <Page title="Orders" action={<ExportButton href={exportUrl} />}>
      <ListTabs
        label="Orders by status"
        tabs={TABS}
        current={tab}
        counts={choices?.tabs ?? {}}
        onOpen={(id) => state.setFilters({ tab: id === 'queue' ? '' : id })}
      />
      <DataTable
        name="Orders"
        columns={columns}
        filters={filters}
        state={state}
        list={list}
        idOf={({ id }) => id}
        pathOf={({ id }) => paths.order(id)}
        searchLabel="Number, buyer, stock number or id"
        empty={<NoOrders tab={tab} hasOrders={(choices?.tabs.all?.value ?? 0) > 0} />}
      />
    </Page>
  );
}

function tabOf({ tab }: Record<string, string>) {
  return TABS.find(({ id }) => id === tab)?.id ?? 'queue';
}

function NoOrders({ tab, hasOrders }: { tab: OrderTab; hasOrders: boolean }) {
  if (hasOrders) {
    return tab === 'queue' ? (
      <EmptyState title="The queue is empty.">Every order is matched, fulfilled or cancelled.</EmptyState>
    ) : (
      <EmptyState title={`No orders are ${ORDER_TABS[tab].join(' or ')}.`} />
    );
  }
  return (
    <EmptyState title="No orders yet." action={<CodeBlock>{EXAMPLE}</CodeBlock>}>
      Orders that your sites report appear here. This is how a site reports one:
    </EmptyState>
  );
}

const EXAMPLE = `curl ${window.location.origin}/api/v1/orders \\
  -H "Authorization: Bearer YOUR_API_KEY" \\
  -H "Idempotency-Key: SO-1001" \\
  -H "Content-Type: application/json" \\
  -d '{"channel_order_id": "SO-1001"}'`;

function filtersOf(channels: Map<string, string>, customerId: string) {
  return withOptions([
    integrationFilter('Channel', channels),
    periodFilter('Received'),
    TEST_DATA_FILTER,
    { name: 'conflict', label: 'Buyer', options: [{ value: 'yes', label: 'Buyer unclear' }] },
    // A customer's own page leads here with it.
    {
      name: 'customer_id',
      label: 'Customer',
      options: customerId === '' ? [] : [{ value: customerId, label: 'One customer' }],
    },
  ]);
}

function columnsOf(channels: Map<string, string>): Column<OrderRow>[] {
  return [
    { id: 'order', header: 'Order', isTitle: true, cell: (order) => <OrderCell order={order} /> },
    { id: 'status', header: 'Status', cell: (order) => <OrderStatus order={order} /> },
    { id: 'buyer', header: 'Buyer', cell: (order) => <BuyerCell order={order} /> },
    {
      id: 'channel',
      header: 'Channel',
      phone: channels.size > 1 ? 'line' : 'none',
      cell: (order) => <ChannelCell name={channels.get(order.integration_id)} />,
    },
    { id: 'matched', header: 'Matched', align: 'right', phone: 'none', cell: (order) => <MatchedCell order={order} /> },
    { id: 'total', header: 'Total', align: 'right', phone: 'side', cell: (order) => <TotalCell order={order} /> },
    { id: 'created', header: 'Received', isSortable: true, cell: (order) => <Time at={order.created_at} /> },
    { id: 'id', header: 'Id', isHidden: true, cell: (order) => <CopyId id={order.id} /> },
  ];
}

function OrderCell({ order }: { order: OrderRow }) {
  const [first] = order.lines;
  const more = order.line_count - 1;
  const title =
    first?.item?.title ?? first?.title ?? (first === undefined ? 'No items named' : 'An item without a title');
  return (
    <Group gap="xs" wrap="nowrap">
      <Thumbnail url={first?.item?.photo_url ?? null} kind={first?.item?.kind ?? null} />
      <div className="item-name">
        <Group gap={6} wrap="nowrap">
          <Text size="sm" fw={600} truncate title={order.channel_order_id}>
            {order.channel_order_id}
          </Text>
          {order.is_test ? <TestBadge /> : null}
        </Group>
        <Text size="xs" c="dimmed" truncate title={title}>
          {more > 0 ? `${title} and ${more} more` : title}
        </Text>
      </div>
    </Group>
  );
}

function ChannelCell({ name }: { name: string | undefined }) {
  return name === undefined ? <Nothing /> : <Clipped text={name} />;
}

function BuyerCell({ order }: { order: OrderRow }) {
  const { name, email } = order.buyer;
  const buyer = name ?? email;
  if (!order.has_customer_conflict) return buyer === null ? <Nothing /> : <Clipped isWide text={buyer} />;
  return (
    <>
      {buyer === null ? null : <Clipped isWide text={buyer} />}
      <Status tone="warn">Buyer unclear</Status>
    </>
  );
}

function MatchedCell({ order }: { order: OrderRow }) {
  return order.line_count === 0 ? <Nothing /> : `${order.matched_count} of ${order.line_count}`;
}

function TotalCell({ order }: { order: OrderRow }) {
  return order.total_amount === null ? <Nothing /> : formatMoney(order.total_amount, order.currency);
}
