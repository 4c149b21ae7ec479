import { Group, Text } from '@mantine/core';
import { apiUrl, type Input } from '../../api/client.ts';
import { useKeptQuery } from '../../api/queries.ts';
import { formatCount, formatMoney } from '../../format.ts';
import { paths } from '../../paths.ts';
import type { Column } from '../../table/columns.ts';
import { DataTable } from '../../table/data-table.tsx';
import { TEST_DATA_FILTER } from '../../table/filters/filter-choices.ts';
import { useListPage } from '../../table/list-page.ts';
import { matchQueryOf } from '../../table/list-state.ts';
import { Clipped } from '../../ui/clipped.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { ExportButton } from '../../ui/export-button.tsx';
import { ListTabs } from '../../ui/page/list-tabs.tsx';
import { Page } from '../../ui/page/page.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { TestBadge } from '../../ui/test-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { ConflictList } from './conflict-list.tsx';
import { Erasures } from './erasures.tsx';
import './customer.css';
import { Nothing } from '../../ui/nothing.tsx';
import { type CustomerRow, conflictsQuery, customersQuery, nameOf } from './customer-queries.ts';

const TABS = [
  { id: 'all', label: 'All' },
  { id: 'conflicts', label: 'Conflicts' },
];
const FILTERS = [TEST_DATA_FILTER];
const FILTER_NAMES = ['tab', 'test'];

/** Everybody who bought or signed up on a channel, and the orders whose buyer is unclear. */
export function CustomersPage() {
  const { state, list } = useListPage(FILTER_NAMES, ({ tab: _tab, ...query }) => customersQuery(query));
  const tab = state.filters.tab === 'conflicts' ? 'conflicts' : 'all';
  const { test } = state.filters;
  const { data: conflicts } = useKeptQuery(conflictsQuery(test === undefined ? {} : { test }));
  const { tab: _tab, ...exported } = matchQueryOf(state);
  const exportUrl = apiUrl('GET /customers/export.csv', {
    query: exported as Input<'GET /customers/export.csv'>['query'],
  });
  return (
    <Page title="Customers" action={tab === 'conflicts' ? null : <ExportButton href={exportUrl} />}>
      <Erasures />
      <ListTabs
        label="Customers"
        tabs={TABS}
        current={tab}
        counts={conflicts === undefined ? {} : { conflicts: conflicts.count }}
        onOpen={(id) => state.setFilters({ tab: id === 'all' ? '' : id })}
      />
      {tab === 'conflicts' ? (
        <ConflictList conflicts={conflicts?.data ?? []} count={conflicts?.count.value ?? 0} />
      ) : (
        <DataTable
          name="Customers"
          columns={COLUMNS}
          filters={FILTERS}
          state={state}
          list={list}
          idOf={({ id }) => id}
          pathOf={({ id }) => paths.customer(id)}
          searchLabel="Name, email, phone or id"
          empty={
            <EmptyState title="No customers yet." action={<CodeBlock>{EXAMPLE}</CodeBlock>}>
              Buyers of orders and customers that your sites report appear here. This is how a site reports one:
            </EmptyState>
          }
        />
      )}
    </Page>
  );
}

const EXAMPLE = `curl ${window.location.origin}/api/v1/customers \\
  -H "Authorization: Bearer YOUR_API_KEY" \\
  -H "Idempotency-Key: customer-1" \\
  -H "Content-Type: application/json" \\
  -d '{"email": "ana@example.com", "first_name": "Ana"}'`;

const COLUMNS: Column<CustomerRow>[] = [
  { id: 'customer', header: 'Customer', isTitle: true, cell: (customer) => <NameCell customer={customer} /> },
  {
    id: 'email',
    header: 'Email',
    cell: ({ email }) => (email === null ? <Nothing /> : <Clipped isWide text={email} />),
  },
  { id: 'phone', header: 'Phone', cell: ({ phone }) => phone ?? <Nothing />, phone: 'none' },
  {
    id: 'channels',
    header: 'Known on',
    phone: 'none',
    cell: ({ channels }) =>
      channels.length === 0 ? <Nothing /> : <Clipped isWide text={channels.map(({ name }) => name).join(', ')} />,
  },
  { id: 'orders', header: 'Orders', align: 'right', phone: 'none', cell: ({ orders }) => formatCount(orders) },
  { id: 'spent', header: 'Spent', align: 'right', phone: 'side', cell: ({ spent }) => <Spent spent={spent} /> },
  { id: 'created', header: 'Since', isSortable: true, cell: ({ created_at: at }) => <Time at={at} /> },
  { id: 'id', header: 'Id', isHidden: true, cell: ({ id }) => <CopyId id={id} /> },
];

function NameCell({ customer }: { customer: CustomerRow }) {
  const { company, name, is_test: isTest } = customer;
  return (
    <div className="item-name">
      <Group gap={6} wrap="nowrap">
        <Text size="sm" fw={600} truncate title={nameOf(customer)}>
          {nameOf(customer)}
        </Text>
        {isTest ? <TestBadge /> : null}
      </Group>
      {company === null || company === name ? null : (
        <Text size="xs" c="dimmed" truncate title={company}>
          {company}
        </Text>
      )}
    </div>
  );
}

export function Spent({ spent }: { spent: CustomerRow['spent'] }) {
  if (spent === null) return 'Too many to add up';
  if (spent.length === 0) return <Nothing />;
  return spent.map(({ amount, currency }) => formatMoney(amount, currency)).join(', ');
}
