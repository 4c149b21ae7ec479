import { Button, Group, Tabs, Text } from '@mantine/core';
import { keepPreviousData, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { formatCount, formatMoney, formatNumber } from '../../format.ts';
import { paths } from '../../paths.ts';
import type { Column } from '../../table/columns.ts';
import { DataTable } from '../../table/data-table.tsx';
import { listQueryOf, useListState } from '../../table/list-state.ts';
import { Icon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { ChannelToggle } from './channel-toggle.tsx';
import { type Kind, type StockChoices, type StockItem, stockChoicesQuery, stockQuery } from './stock-queries.ts';

export function WatchesPage() {
  return <StockPage kind="listing" />;
}

export function PartsPage() {
  return <StockPage kind="part" />;
}

const WORDS = {
  listing: { title: 'Watches', search: 'Search watches', none: 'No watches yet.', create: 'New watch' },
  part: { title: 'Parts', search: 'Search parts', none: 'No parts yet.', create: 'New part' },
} as const;

/** What each tab narrows the list to. */
const TABS: { id: string; label: string; filters: Record<string, string> }[] = [
  { id: 'all', label: 'All', filters: {} },
  { id: 'in_stock', label: 'In stock', filters: { status: 'in_stock' } },
  { id: 'reserved', label: 'Reserved', filters: { status: 'reserved' } },
  { id: 'sold', label: 'Sold', filters: { status: 'sold' } },
  { id: 'no_channel', label: 'On no channel', filters: { integration_id: 'none' } },
  { id: 'needs_work', label: 'Needs work', filters: { needs_work: 'yes' } },
];
const TAB_FILTERS = ['status', 'integration_id', 'needs_work'];
const FILTER_NAMES = [...TAB_FILTERS, 'brand', 'location_id', 'hidden'];

function StockPage({ kind }: { kind: Kind }) {
  const words = WORDS[kind];
  const state = useListState(FILTER_NAMES);
  const { data: choices } = useSuspenseQuery(stockChoicesQuery(kind));
  const list = useQuery({ ...stockQuery(kind, listQueryOf(state)), placeholderData: keepPreviousData });
  const columns = useMemo(() => columnsOf(choices), [choices]);
  const filters = useMemo(() => filtersOf(choices), [choices]);
  const tab = TABS.find(({ filters: own }) => TAB_FILTERS.every((name) => own[name] === state.filters[name]));
  const openTab = (id: string | null) => {
    const wanted = TABS.find((one) => one.id === id)?.filters ?? {};
    state.setFilters(Object.fromEntries(TAB_FILTERS.map((name) => [name, wanted[name] ?? ''])));
  };
  return (
    <Page
      title={words.title}
      action={<Button renderRoot={(props) => <Link {...props} to={paths.newItem(kind)} />}>{words.create}</Button>}
    >
      <Tabs value={tab?.id ?? null} onChange={openTab} mb="sm">
        <Tabs.List>
          {TABS.map(({ id, label }) => (
            <Tabs.Tab key={id} value={id} rightSection={<TabCount count={choices.tabs[id]} />}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      <DataTable
        name={words.title}
        columns={columns}
        filters={filters}
        state={state}
        list={list}
        idOf={({ id }) => id}
        pathOf={({ id }) => paths.item(id)}
        searchLabel={words.search}
        empty={<EmptyState title={words.none}>What you enter or import appears here.</EmptyState>}
      />
    </Page>
  );
}

function TabCount({ count }: { count: { value: number; is_capped: boolean } | undefined }) {
  if (count === undefined || count.value === 0) return null;
  return (
    <Text component="span" size="xs" c="dimmed">
      {formatCount(count)}
    </Text>
  );
}

function filtersOf({ brands, locations, channels }: StockChoices) {
  return [
    { name: 'brand', label: 'Brand', options: brands.map((brand) => ({ value: brand, label: brand })) },
    {
      name: 'integration_id',
      label: 'Channel',
      options: [
        ...channels.map(({ integration_id, name }) => ({ value: integration_id, label: name })),
        { value: 'none', label: 'On no channel' },
      ],
    },
    {
      name: 'location_id',
      label: 'Location',
      options: locations.map(({ id, name, business_unit }) => ({ value: id, label: `${business_unit}, ${name}` })),
    },
    {
      name: 'hidden',
      label: 'Hidden',
      options: [
        { value: 'yes', label: 'Hidden' },
        { value: 'no', label: 'Not hidden' },
      ],
    },
  ].filter(({ options }) => options.length > 0);
}

const STATUS: Record<StockItem['status'], { tone: Tone; label: string }> = {
  in_stock: { tone: 'good', label: 'In stock' },
  reserved: { tone: 'warn', label: 'Reserved' },
  sold: { tone: 'off', label: 'Sold' },
};

function columnsOf({ channels }: StockChoices): Column<StockItem>[] {
  return [
    { id: 'title', header: 'Item', isSortable: true, cell: (item) => <ItemCell item={item} /> },
    { id: 'stock_number', header: 'Stock number', isSortable: true, cell: (item) => <code>{item.stock_number}</code> },
    { id: 'status', header: 'Status', cell: (item) => <StatusCell item={item} /> },
    { id: 'price', header: 'Price', align: 'right', isSortable: true, cell: (item) => <PriceCell item={item} /> },
    ...channels.map((channel) => ({
      id: channel.integration_id,
      header: channel.is_test_mode ? `${channel.name} (test)` : channel.name,
      cell: (item: StockItem) => <ChannelToggle item={item} channel={channel} />,
    })),
    { id: 'units', header: 'Units', align: 'right', cell: (item) => <UnitsCell item={item} /> },
    { id: 'location', header: 'Location', cell: (item) => item.location?.name ?? <Nothing /> },
    { id: 'created', header: 'In stock since', isSortable: true, cell: (item) => <Time at={item.created_at} /> },
    { id: 'missing', header: 'Missing', isHidden: true, cell: (item) => <MissingCell item={item} /> },
  ];
}

function ItemCell({ item }: { item: StockItem }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Thumbnail item={item} />
      <div className="item-name">
        <Text size="sm" fw={600} truncate>
          {item.title}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {[item.brand, item.reference].filter((text) => text !== null).join(' · ')}
        </Text>
      </div>
    </Group>
  );
}

/** A watch is recognised by its photo; one without has a drawing of its kind, so that rows stay aligned. */
function Thumbnail({ item }: { item: StockItem }) {
  if (item.photo_url === null) {
    return (
      <span className="thumbnail" data-empty="true">
        <Icon name={item.kind === 'part' ? 'part' : 'watch'} />
      </span>
    );
  }
  return <img className="thumbnail" src={item.photo_url} alt="" loading="lazy" width={32} height={32} />;
}

function StatusCell({ item }: { item: StockItem }) {
  const { tone, label } = STATUS[item.status];
  const word = item.kind === 'part' && item.status === 'sold' ? 'Sold out' : label;
  return item.is_hidden ? <Status tone="off">{`${word}, hidden`}</Status> : <Status tone={tone}>{word}</Status>;
}

function PriceCell({ item }: { item: StockItem }) {
  if (item.price === null)
    return (
      <Text size="sm" c="dimmed">
        on request
      </Text>
    );
  const { amount, currency } = item.price;
  if (item.promotion_amount === null) return formatMoney(amount, currency);
  return (
    <span title="A promotion runs now.">
      {formatMoney(item.promotion_amount, currency)}{' '}
      <Text component="s" size="xs" c="dimmed">
        {formatMoney(amount, currency)}
      </Text>
    </span>
  );
}

function UnitsCell({ item }: { item: StockItem }) {
  const free = item.units - item.reserved_units;
  return item.reserved_units === 0 ? formatNumber(free) : `${formatNumber(free)} (${item.reserved_units} held)`;
}

function MissingCell({ item }: { item: StockItem }) {
  if (item.missing.length === 0) return <Nothing />;
  return <Text size="xs">{item.missing.map((field) => field.replaceAll('_', ' ')).join(', ')}</Text>;
}

function Nothing() {
  return (
    <Text component="span" c="dimmed">
      –
    </Text>
  );
}
