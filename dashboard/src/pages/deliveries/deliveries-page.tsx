import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import {
  COMMON_RESPONSE_CODES,
  DELIVERY_STATUS_LABELS,
  type DeliveryStatusName,
  RESPONSE_LABELS,
} from '../../../../src/contract/dashboard/integrations/delivery-labels.ts';
import { apiUrl, type Input } from '../../api/client.ts';
import { useKeptQuery } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import type { Column } from '../../table/columns.ts';
import { DataTable } from '../../table/data-table.tsx';
import {
  EVENT_TYPE_FILTER,
  integrationFilter,
  optionsOf,
  timeRangeFilter,
  withOptions,
} from '../../table/filters/filter-choices.ts';
import { useListPage } from '../../table/list-page.ts';
import { matchQueryOf } from '../../table/list-state.ts';
import { Clipped } from '../../ui/clipped.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { ExportButton } from '../../ui/export-button.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { ListTabs } from '../../ui/page/list-tabs.tsx';
import { Page } from '../../ui/page/page.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { AnswerCell, DelayCell, DeliveryStatus, ObjectCell } from './delivery-parts.tsx';
import { DeliveryPlots } from './delivery-plots.tsx';
import { type DeliveryChoices, type DeliveryRow, deliveriesQuery, deliveryChoicesQuery } from './delivery-queries.ts';
import { ReplaySelected, RunningReplays } from './replay-buttons.tsx';
import { StoppedEndpoints } from './stopped-endpoints.tsx';
import { UnsentEvents } from './unsent-events.tsx';

type Tab = 'all' | DeliveryStatusName;

/** Those that need somebody first. */
const STATUSES: readonly DeliveryStatusName[] = ['dead_letter', 'failed', 'held', 'pending', 'succeeded'];
const TABS: { id: Tab; label: string }[] = [
  { id: 'all', label: 'All' },
  ...STATUSES.map((id) => ({ id, label: id === 'dead_letter' ? 'Dead letters' : DELIVERY_STATUS_LABELS[id] })),
];
const FILTER_NAMES = ['status', 'type', 'code', 'integration_id', 'period', 'from', 'to', 'object_id'];

/** Every webhook that was sent or is to be sent, newest first: where somebody finds out why one did not arrive. */
export function DeliveriesPage() {
  const { state, list } = useListPage(FILTER_NAMES, deliveriesQuery);
  const { status: _status, ...counted } = matchQueryOf(state);
  const { data: choices } = useKeptQuery(deliveryChoicesQuery(counted));
  const names = useMemo(() => new Map(choices?.integrations.map((one) => [one.integration_id, one.name])), [choices]);
  const columns = useMemo(() => columnsOf(names), [names]);
  const { code = '' } = state.filters;
  const filters = useMemo(() => filtersOf(names, code), [names, code]);
  const exported = matchQueryOf(state) as Input<'GET /deliveries/export.csv'>['query'];
  const exportUrl = apiUrl('GET /deliveries/export.csv', { query: exported });
  return (
    <Page title="Deliveries" action={<ExportButton href={exportUrl} />}>
      <StoppedEndpoints integrations={choices?.integrations ?? []} />
      <RunningReplays choices={choices} />
      <UnsentEvents choices={choices} match={counted} />
      {choices === undefined || choices.integrations.length === 0 ? null : (
        <DeliveryPlots integrationId={state.filters.integration_id} />
      )}
      <ListTabs
        label="Deliveries by status"
        tabs={TABS}
        current={TABS.find(({ id }) => id === state.filters.status)?.id ?? 'all'}
        counts={choices?.statuses ?? {}}
        onOpen={(id) => state.setFilters({ status: id === 'all' ? '' : id })}
      />
      <DataTable
        name="Deliveries"
        columns={columns}
        filters={filters}
        state={state}
        list={list}
        idOf={({ id }) => id}
        nameOf={({ type, id }) => `${type} ${id}`}
        pathOf={({ id }) => paths.delivery(id)}
        searchLabel="Id, stock number or order number"
        objectName={list.data?.data[0]?.object?.name}
        bulk={(selection) => <ReplaySelected selection={selection} />}
        empty={<NoDeliveries choices={choices} />}
      />
    </Page>
  );
}

function NoDeliveries({ choices }: { choices: DeliveryChoices | undefined }) {
  const [integration] = choices?.integrations ?? [];
  if (integration === undefined) {
    return (
      <EmptyState
        title="No deliveries yet."
        action={
          <Button renderRoot={(props) => <Link {...props} to={paths.newIntegration()} />}>New integration</Button>
        }
      >
        Connect a website with a webhook URL. What it is told of your stock and its orders appears here.
      </EmptyState>
    );
  }
  const settings = paths.integration(integration.integration_id);
  return integration.url === null ? (
    <EmptyState
      title="No deliveries yet."
      action={
        <Button renderRoot={(props) => <Link {...props} to={settings} search={{ tab: 'webhooks' } as never} />}>
          Set a webhook URL
        </Button>
      }
    >
      {integration.name} has no webhook URL, so events are recorded and not sent.
    </EmptyState>
  ) : (
    <EmptyState
      title="No deliveries yet."
      action={<Button renderRoot={(props) => <Link {...props} to={settings} />}>Send a test event</Button>}
    >
      Publish an item on {integration.name}, or send a test event, and see it arrive here. Does the website wait for
      news of an order that is not under Orders? Its request was refused:{' '}
      <TextLink to={paths.requests()} search={{ status: '4xx' }}>
        see refused requests
      </TextLink>
      .
    </EmptyState>
  );
}

/** Classes, codes that are met often, and the one that the address asks for. */
function codeOptionsOf(wanted: string) {
  const options = [
    ...optionsOf(RESPONSE_LABELS),
    ...COMMON_RESPONSE_CODES.map((code) => ({ value: String(code), label: String(code) })),
  ];
  const isOffered = wanted === '' || options.some(({ value }) => value === wanted);
  return isOffered ? options : [...options, { value: wanted, label: wanted }];
}

function filtersOf(names: Map<string, string>, code: string) {
  return withOptions([
    EVENT_TYPE_FILTER,
    { name: 'code', label: 'Answer', options: codeOptionsOf(code) },
    integrationFilter('Integration', names),
    timeRangeFilter('Time'),
  ]);
}

function columnsOf(names: Map<string, string>): Column<DeliveryRow>[] {
  return [
    {
      id: 'event',
      header: 'Event',
      isTitle: true,
      cell: ({ type }) => <code className="event-type">{type}</code>,
    },
    { id: 'status', header: 'Status', width: 120, cell: ({ status }) => <DeliveryStatus status={status} /> },
    { id: 'object', header: 'Object', cell: ({ object }) => <ObjectCell object={object} /> },
    {
      id: 'integration',
      header: 'Integration',
      cell: ({ integration_id: id }) => <Clipped text={names.get(id) ?? '–'} />,
    },
    { id: 'code', header: 'Answer', align: 'right', width: 90, cell: (row) => <AnswerCell row={row} /> },
    {
      id: 'attempts',
      header: 'Attempts',
      align: 'right',
      width: 90,
      phone: 'none',
      cell: ({ attempts }) => String(attempts),
    },
    {
      id: 'delay',
      header: 'Delay',
      align: 'right',
      width: 90,
      phone: 'none',
      cell: ({ delay_ms: ms }) => <DelayCell ms={ms} />,
    },
    {
      id: 'next',
      header: 'Next try',
      width: 120,
      phone: 'none',
      cell: ({ next_attempt_at: at }) => (at === null ? <Nothing /> : <Time at={at} isPlanned />),
    },
    { id: 'created', header: 'Created', width: 120, phone: 'side', cell: ({ created_at: at }) => <Time at={at} /> },
    { id: 'id', header: 'Id', isHidden: true, cell: ({ id }) => <CopyId id={id} /> },
  ];
}
