import { Box, Button, Group } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { exponentOf } from '../../../../src/contract/currencies.ts';
import { apiUrl, type Input } from '../../api/client.ts';
import { paths } from '../../paths.ts';
import { DataTable } from '../../table/data-table.tsx';
import type { Filter } from '../../table/filters/filters.tsx';
import { useListPage } from '../../table/list-page.ts';
import { type ListState, matchQueryOf } from '../../table/list-state.ts';
import { ExportButton } from '../../ui/export-button.tsx';
import { ListTabs } from '../../ui/page/list-tabs.tsx';
import { Page } from '../../ui/page/page.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { StockCard } from './stock-card.tsx';
import { stockColumns } from './stock-columns.tsx';
import { type Kind, type StockChoices, stockChoicesQuery, stockQuery } from './stock-queries.ts';

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
type Tab = { id: string; label: string; filters: Record<string, string> };
const TABS: Tab[] = [
  { id: 'all', label: 'All', filters: {} },
  { id: 'in_stock', label: 'In stock', filters: { status: 'in_stock' } },
  { id: 'reserved', label: 'Reserved', filters: { status: 'reserved' } },
  { id: 'sold', label: 'Sold', filters: { status: 'sold' } },
  { id: 'no_channel', label: 'On no channel', filters: { integration_id: 'none' } },
  { id: 'needs_work', label: 'Incomplete', filters: { needs_work: 'yes' } },
];
/** What an empty tab says; "Sold" of parts means that none is left. */
const EMPTY_TABS: Record<string, Record<Kind, [title: string, text?: string]>> = {
  in_stock: { listing: ['No watch is in stock.'], part: ['No part is in stock.'] },
  reserved: { listing: ['No watch is reserved.'], part: ['No part is reserved.'] },
  sold: { listing: ['No watch is sold.'], part: ['No part is sold out.'] },
  no_channel: { listing: ['Every watch is on a channel.'], part: ['Every part is on a channel.'] },
  needs_work: {
    listing: [
      'No watch is incomplete.',
      'A watch appears here while it lacks photos, a price, a description, a reference number, a year, a movement, a case material or a case diameter.',
    ],
    part: [
      'No part is incomplete.',
      'A part appears here while it lacks photos, a price, a description, a part number or the watches that it fits.',
    ],
  },
};
const TAB_FILTERS = ['status', 'integration_id', 'needs_work'];
const FILTER_NAMES = [...TAB_FILTERS, 'brand', 'location_id', 'hidden', 'price_from', 'price_to'];

function StockPage({ kind }: { kind: Kind }) {
  const words = WORDS[kind];
  const { state, list } = useListPage(FILTER_NAMES, (query) => stockQuery(kind, query));
  const { data: choices } = useSuspenseQuery(stockChoicesQuery(kind));
  const columns = useMemo(() => stockColumns(choices), [choices]);
  const filters = useMemo(() => filtersOf(choices), [choices]);
  const tab = TABS.find(({ filters: own }) => TAB_FILTERS.every((name) => own[name] === state.filters[name]));
  const openTab = (id: string | null) => {
    const wanted = TABS.find((one) => one.id === id)?.filters ?? {};
    state.setFilters(Object.fromEntries(TAB_FILTERS.map((name) => [name, wanted[name] ?? ''])));
  };
  const create = <Button renderRoot={(props) => <Link {...props} to={paths.newItem(kind)} />}>{words.create}</Button>;
  const importLink = (
    <Button
      variant="default"
      renderRoot={(props) => <Link {...props} to={paths.import()} search={{ kind } as never} />}
    >
      Import
    </Button>
  );
  const exported = { ...matchQueryOf(state), kind };
  const actions = (
    <Group gap="xs" wrap="nowrap">
      <Box visibleFrom="sm">{importLink}</Box>
      <ExportButton
        href={apiUrl('GET /stock/export.csv', { query: exported as Input<'GET /stock/export.csv'>['query'] })}
      />
      {create}
    </Group>
  );
  return (
    <Page title={words.title} action={actions}>
      <ListTabs
        label={`${words.title} by status`}
        tabs={TABS}
        current={tab?.id ?? null}
        counts={choices.tabs}
        onOpen={openTab}
      />
      <DataTable
        name={words.title}
        columns={columns}
        filters={filters}
        state={state}
        list={list}
        idOf={({ id }) => id}
        nameOf={({ title }) => title}
        pathOf={({ id }) => paths.item(id)}
        searchLabel={words.search}
        bulk={(selection) => (
          <BulkActions
            kind={kind}
            selection={selection}
            choices={choices}
            example={list.data?.data.find(({ id, price }) => price !== null && selection.has(id))}
          />
        )}
        card={(item) => <StockCard item={item} channels={choices.channels} />}
        emptyTab={isTabAlone(tab, state) ? <EmptyTab tab={tab.id} kind={kind} /> : undefined}
        empty={
          <EmptyState
            title={words.none}
            action={
              <Group>
                {importLink}
                {create}
              </Group>
            }
          >
            What you enter or import appears here.
          </EmptyState>
        }
      />
    </Page>
  );
}

/** Nothing but the tab narrows the list. */
function isTabAlone(tab: Tab | undefined, { q, filters }: ListState): tab is Tab {
  return tab !== undefined && q === '' && Object.keys(filters).every((name) => name in tab.filters);
}

function EmptyTab({ tab, kind }: { tab: string; kind: Kind }) {
  const [title = '', text] = EMPTY_TABS[tab]?.[kind] ?? [];
  return <EmptyState title={title}>{text}</EmptyState>;
}

function filtersOf({ brands, locations, channels, currency }: StockChoices): Filter[] {
  const choices = [
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
  const price = { label: 'Price', from: 'price_from', to: 'price_to', unit: currency, decimals: exponentOf(currency) };
  return [...choices, price];
}
