import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { EVENT_OUTCOME_LABELS } from '../../../../src/contract/dashboard/integrations/delivery-labels.ts';
import { apiUrl, type Input } from '../../api/client.ts';
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
import { Page } from '../../ui/page/page.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { Time } from '../../ui/time.tsx';
import { ObjectCell } from '../deliveries/delivery-parts.tsx';
import { EventOutcome } from './event-outcome.tsx';
import { type EventRow, eventChoicesQuery, eventsQuery } from './event-queries.ts';

const FILTER_NAMES = ['type', 'outcome', 'integration_id', 'period', 'from', 'to', 'object_id'];

/** Everything that happened on a channel, also what was never sent, and why. */
export function EventsPage() {
  const { state, list } = useListPage(FILTER_NAMES, eventsQuery);
  const { data: choices } = useSuspenseQuery(eventChoicesQuery);
  const names = useMemo(() => new Map(choices.integrations.map((one) => [one.integration_id, one.name])), [choices]);
  const columns = useMemo(() => columnsOf(names), [names]);
  const filters = useMemo(() => filtersOf(names), [names]);
  const exported = matchQueryOf(state) as Input<'GET /events/export.csv'>['query'];
  const exportUrl = apiUrl('GET /events/export.csv', { query: exported });
  return (
    <Page title="Events" action={<ExportButton href={exportUrl} />}>
      <DataTable
        name="Events"
        columns={columns}
        filters={filters}
        state={state}
        list={list}
        idOf={({ id }) => id}
        nameOf={({ type, id }) => `${type} ${id}`}
        pathOf={({ id }) => paths.event(id)}
        searchLabel="Id, stock number or order number"
        objectName={list.data?.data[0]?.object?.name}
        empty={
          <EmptyState
            title="No events yet."
            action={<Button renderRoot={(props) => <Link {...props} to={paths.watches()} />}>Publish a watch</Button>}
          >
            When an item on a channel changes, or something happens to an order, it appears here.
          </EmptyState>
        }
      />
    </Page>
  );
}

function filtersOf(names: Map<string, string>) {
  return withOptions([
    EVENT_TYPE_FILTER,
    { name: 'outcome', label: 'Outcome', options: optionsOf(EVENT_OUTCOME_LABELS) },
    integrationFilter('Integration', names),
    timeRangeFilter('Time'),
  ]);
}

function columnsOf(names: Map<string, string>): Column<EventRow>[] {
  return [
    { id: 'event', header: 'Event', isTitle: true, cell: ({ type }) => <code className="event-type">{type}</code> },
    { id: 'outcome', header: 'Outcome', cell: (event) => <EventOutcome event={event} /> },
    { id: 'object', header: 'Object', cell: ({ object }) => <ObjectCell object={object} /> },
    {
      id: 'integration',
      header: 'Integration',
      cell: ({ integration_id: id }) => <Clipped text={names.get(id) ?? '–'} />,
    },
    { id: 'created', header: 'Created', width: 130, phone: 'side', cell: ({ created_at: at }) => <Time at={at} /> },
    { id: 'id', header: 'Id', isHidden: true, cell: ({ id }) => <CopyId id={id} /> },
  ];
}
