import { ActionIcon, Anchor, Button, Group, Menu, Text } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { SaleTab } from '../../../../src/contract/dashboard/orders/order-labels.ts';
import { apiUrl, type Input } from '../../api/client.ts';
import { useKeptQuery } from '../../api/queries.ts';
import { formatMoney, formatNumber, formatUnits } from '../../format.ts';
import { paths } from '../../paths.ts';
import type { Column } from '../../table/columns.ts';
import { DataTable } from '../../table/data-table.tsx';
import { periodFilter, TEST_DATA_FILTER } from '../../table/filters/filter-choices.ts';
import { useListPage } from '../../table/list-page.ts';
import { listQueryOf, matchQueryOf } from '../../table/list-state.ts';
import { Clipped } from '../../ui/clipped.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { ExportButton } from '../../ui/export-button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { ListTabs } from '../../ui/page/list-tabs.tsx';
import { Page } from '../../ui/page/page.tsx';
import { PageLink } from '../../ui/page/page-link.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { Status } from '../../ui/status.tsx';
import { TestBadge } from '../../ui/test-badge.tsx';
import { Thumbnail } from '../../ui/thumbnail.tsx';
import { Time } from '../../ui/time.tsx';
import { RecordSaleDialog } from './record-sale.tsx';
import { ChangeSaleDialog, VoidSaleDialog } from './sale-dialogs.tsx';
import { type SaleRow, saleChoicesQuery, salesQuery } from './sales-queries.ts';

const TABS: { id: SaleTab; label: string }[] = [
  { id: 'completed', label: 'Completed' },
  { id: 'voided', label: 'Voided' },
  { id: 'all', label: 'All' },
];
const FILTER_NAMES = ['tab', 'channel', 'period', 'test'];

type Opened = { sale: SaleRow; dialog: 'void' | 'change' } | null;

/** What was sold, for how much, where and to whom. */
export function SalesPage() {
  const { state, list } = useListPage(FILTER_NAMES, (query) => salesQuery({ ...query, tab: tabOf(query) }));
  const tab = tabOf(state.filters);
  const [opened, setOpened] = useState<Opened>(null);
  const { tab: _tab, ...counted } = listQueryOf(state);
  const { data: choices } = useKeptQuery(saleChoicesQuery(counted));
  const columns = useMemo(() => columnsOf(setOpened), []);
  const channels = choices?.channels;
  const filters = useMemo(() => filtersOf(channels ?? []), [channels]);
  const close = () => setOpened(null);
  // In the address, so that the palette and a link can begin one.
  const isRecording = (useSearch({ strict: false }) as { record?: string }).record !== undefined;
  const navigate = useNavigate();
  const setRecording = (isOn: boolean) =>
    void navigate({
      to: '.',
      search: ((before: object) => ({ ...before, record: isOn ? 'yes' : undefined })) as never,
      replace: true,
      resetScroll: false,
    });
  const record = <Button onClick={() => setRecording(true)}>Record a sale</Button>;
  const exported = { ...matchQueryOf(state), tab };
  const actions = (
    <Group gap="xs" wrap="nowrap">
      <ExportButton
        href={apiUrl('GET /sales/export.csv', { query: exported as Input<'GET /sales/export.csv'>['query'] })}
      />
      {record}
    </Group>
  );
  return (
    <Page title="Sales" action={actions}>
      <ListTabs
        label="Sales by status"
        tabs={TABS}
        current={tab}
        counts={choices?.tabs ?? {}}
        onOpen={(id) => state.setFilters({ tab: id === 'completed' ? '' : id })}
      />
      <Totals totals={choices?.totals ?? null} unpriced={choices?.unpriced ?? 0} />
      <DataTable
        name="Sales"
        columns={columns}
        filters={filters}
        state={state}
        list={list}
        idOf={({ id }) => id}
        pathOf={({ order, item_id: itemId }) =>
          order === null ? (itemId === null ? null : paths.item(itemId)) : paths.order(order.id)
        }
        searchLabel="Item, stock number, order or id"
        empty={
          <EmptyState title={tab === 'voided' ? 'No sale was voided.' : 'No sales yet.'} action={record}>
            Orders that you confirm and sales that you record appear here.
          </EmptyState>
        }
      />
      {isRecording ? <RecordSaleDialog onClose={() => setRecording(false)} /> : null}
      {opened?.dialog === 'void' ? <VoidSaleDialog sale={opened.sale} onClose={close} /> : null}
      {opened?.dialog === 'change' ? <ChangeSaleDialog sale={opened.sale} onClose={close} /> : null}
    </Page>
  );
}

function tabOf({ tab }: Record<string, string>) {
  return TABS.find(({ id }) => id === tab)?.id ?? 'completed';
}

type TotalsProps = { totals: { amount: number; currency: string }[] | null; unpriced: number };

/** What the completed sales come to that the search and the filters find, and that some may not be in it. */
function Totals({ totals, unpriced }: TotalsProps) {
  if (totals === null || (totals.length === 0 && unpriced === 0)) return null;
  return (
    <Text size="sm" mb="xs" className="figures">
      {totals.length === 0 ? null : (
        <>
          <Text span c="dimmed">
            Completed sales come to{' '}
          </Text>
          {totals.map(({ amount, currency }) => formatMoney(amount, currency)).join(' and ')}
          {unpriced === 0 ? '' : '. '}
        </>
      )}
      <Text span c="dimmed">
        {unpricedText(unpriced)}
      </Text>
    </Text>
  );
}

function unpricedText(count: number): string {
  if (count === 0) return '';
  return count === 1 ? '1 completed sale has no amount.' : `${formatNumber(count)} completed sales have no amount.`;
}

function filtersOf(channels: { channel: string; name: string }[]) {
  return [
    {
      name: 'channel',
      label: 'Channel',
      options: channels.map(({ channel, name }) => ({ value: channel, label: name })),
    },
    periodFilter('Sold'),
    TEST_DATA_FILTER,
  ];
}

function columnsOf(open: (opened: Opened) => void): Column<SaleRow>[] {
  return [
    { id: 'item', header: 'Item', isTitle: true, cell: (sale) => <ItemCell sale={sale} /> },
    { id: 'status', header: 'Status', cell: (sale) => <SaleStatus sale={sale} /> },
    {
      id: 'buyer',
      header: 'Buyer',
      cell: (sale) => <BuyerCell sale={sale} />,
      phoneCell: (sale) => (sale.buyer === null ? null : <BuyerCell sale={sale} />),
    },
    { id: 'channel', header: 'Channel', cell: (sale) => <ChannelCell sale={sale} /> },
    {
      id: 'units',
      header: 'Units',
      align: 'right',
      phone: 'line',
      cell: (sale) => formatNumber(sale.units),
      phoneCell: (sale) => formatUnits(sale.units),
    },
    { id: 'amount', header: 'Amount', align: 'right', phone: 'side', cell: (sale) => <AmountCell sale={sale} /> },
    { id: 'created', header: 'Sold', isSortable: true, cell: (sale) => <Time at={sale.created_at} /> },
    { id: 'id', header: 'Id', isHidden: true, cell: (sale) => <CopyId id={sale.id} /> },
    {
      id: 'actions',
      header: 'Actions',
      width: 64,
      phone: 'corner',
      cell: (sale) => <RowMenu sale={sale} open={open} />,
    },
  ];
}

function ItemCell({ sale }: { sale: SaleRow }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Thumbnail url={sale.photo_url} kind={sale.item_id?.startsWith('prt_') ? 'part' : 'listing'} />
      <div className="item-name">
        <Group gap={6} wrap="nowrap">
          <Text size="sm" fw={600} truncate title={sale.title}>
            {sale.title}
          </Text>
          {sale.is_test ? <TestBadge /> : null}
        </Group>
        <Text size="xs" c="dimmed" truncate>
          {sale.stock_number}
        </Text>
      </div>
    </Group>
  );
}

function SaleStatus({ sale }: { sale: SaleRow }) {
  return sale.status === 'voided' ? <Status tone="off">Voided</Status> : <Status tone="good">Completed</Status>;
}

function BuyerCell({ sale }: { sale: SaleRow }) {
  if (sale.buyer === null) return <Nothing />;
  const { name, customer_id: id } = sale.buyer;
  const text = <Clipped isWide text={name ?? 'No name'} />;
  return id === null ? (
    text
  ) : (
    <PageLink to={paths.customer(id)} area={paths.customers()}>
      {text}
    </PageLink>
  );
}

function ChannelCell({ sale }: { sale: SaleRow }) {
  const name = sale.channel_name ?? 'A deleted integration';
  if (sale.order === null) return <Clipped text={name} />;
  const number = sale.order.channel_order_id;
  return (
    <>
      <Clipped text={name} />
      {number === null ? null : (
        <Anchor component={Link} to={paths.order(sale.order.id)} inherit>
          <Clipped text={number} />
        </Anchor>
      )}
    </>
  );
}

function AmountCell({ sale }: { sale: SaleRow }) {
  if (sale.price === null) return <Nothing />;
  const text = formatMoney(sale.price.amount, sale.price.currency);
  return sale.status === 'voided' ? <s>{text}</s> : text;
}

function RowMenu({ sale, open }: { sale: SaleRow; open: (opened: Opened) => void }) {
  const isVoided = sale.status === 'voided';
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for the sale of ${sale.title}`}>
          <Icon name="more" size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item disabled={isVoided} onClick={() => open({ sale, dialog: 'change' })}>
          Correct the sale
        </Menu.Item>
        <Menu.Item
          color={isVoided ? undefined : 'ruby'}
          disabled={isVoided}
          onClick={() => open({ sale, dialog: 'void' })}
        >
          Void the sale
          {isVoided ? (
            <Text size="xs" c="dimmed">
              It was voided before.
            </Text>
          ) : null}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
