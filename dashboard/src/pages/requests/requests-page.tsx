import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  LOGGED_429_PER_MINUTE,
  LOGGED_ERRORS_PER_MINUTE,
  LOGGED_READS_PER_MINUTE,
  REQUEST_LOG_DAYS,
} from '../../../../src/contract/limits.ts';
import { apiUrl, type Input } from '../../api/client.ts';
import { paths } from '../../paths.ts';
import type { Column } from '../../table/columns.ts';
import { DataTable } from '../../table/data-table.tsx';
import { integrationFilter, timeRangeFilter, withOptions } from '../../table/filters/filter-choices.ts';
import { useListPage } from '../../table/list-page.ts';
import { matchQueryOf } from '../../table/list-state.ts';
import { Clipped } from '../../ui/clipped.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { ExportButton } from '../../ui/export-button.tsx';
import { Page } from '../../ui/page/page.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { Time } from '../../ui/time.tsx';
import { type ApiRequest, type RequestChoices, requestChoicesQuery, requestsQuery } from './request-queries.ts';
import { RequestStatus } from './request-status.tsx';

const FILTER_NAMES = ['status', 'method', 'route', 'integration_id', 'period', 'from', 'to'];
const STATUSES = [
  { value: '2xx', label: '2xx Succeeded' },
  { value: '3xx', label: '3xx Not modified' },
  { value: '4xx', label: '4xx Refused' },
  { value: '5xx', label: '5xx Failed' },
];
const METHODS = ['GET', 'POST', 'HEAD'].map((value) => ({ value, label: value }));

/** The API requests of all integrations, newest first. */
export function RequestsPage() {
  const { state, list } = useListPage(FILTER_NAMES, requestsQuery);
  const { data: choices } = useQuery(requestChoicesQuery());
  const names = useMemo(() => new Map(choices?.integrations.map(({ id, name }) => [id, name])), [choices]);
  const columns = useMemo(() => columnsOf(names), [names]);
  const filters = useMemo(
    () =>
      withOptions([
        { name: 'status', label: 'Status', options: STATUSES },
        { name: 'method', label: 'Method', options: METHODS },
        { name: 'route', label: 'Route', options: (choices?.routes ?? []).map((value) => ({ value, label: value })) },
        integrationFilter('Integration', names),
        timeRangeFilter('Time', ['day', 'week']),
      ]),
    [choices, names],
  );
  const exported = matchQueryOf(state) as Input<'GET /requests/export.csv'>['query'];
  const exportUrl = apiUrl('GET /requests/export.csv', { query: exported });
  return (
    <Page title="Requests" action={<ExportButton href={exportUrl} />}>
      <Text size="sm" c="dimmed" mb="sm">
        {sentenceOf(choices)}
      </Text>
      <DataTable
        name="Requests"
        columns={columns}
        filters={filters}
        state={state}
        list={list}
        idOf={({ id }) => id}
        pathOf={({ id }) => paths.request(id)}
        searchLabel="Request id or idempotency key"
        empty={
          <EmptyState title="No requests yet." action={<CodeBlock>{EXAMPLE}</CodeBlock>}>
            Requests that your sites send to the API appear here within a second or two:
          </EmptyState>
        }
      />
    </Page>
  );
}

const EXAMPLE = `curl ${window.location.origin}/api/v1/me \\
  -H "Authorization: Bearer YOUR_API_KEY"`;

function sentenceOf(choices: RequestChoices | undefined): string {
  const { reads_not_logged: reads = 0, errors_not_logged: errors = 0, dropped = 0 } = choices ?? {};
  const kept = `API requests of the last ${REQUEST_LOG_DAYS} days.`;
  const unlisted = [
    ...(reads > 0 ? [`${reads.toLocaleString()} reads beyond ${LOGGED_READS_PER_MINUTE} a minute`] : []),
    ...(errors > 0
      ? [
          `${errors.toLocaleString()} errors beyond ${LOGGED_ERRORS_PER_MINUTE} a minute, or ${LOGGED_429_PER_MINUTE} of 429`,
        ]
      : []),
    ...(dropped > 0 ? [`${dropped.toLocaleString()} requests under heavy load`] : []),
  ];
  return unlisted.length === 0 ? kept : `${kept} Not listed: ${unlisted.join(' and ')}.`;
}

function nameOf({ method, route }: ApiRequest): string {
  return `${method} ${route ?? 'unknown path'}`;
}

function columnsOf(names: Map<string, string>): Column<ApiRequest>[] {
  return [
    {
      id: 'request',
      header: 'Request',
      isTitle: true,
      cell: nameOf,
    },
    { id: 'status', header: 'Status', cell: (request) => <RequestStatus request={request} /> },
    {
      id: 'integration',
      header: 'Integration',
      cell: (request) => <Clipped text={names.get(request.integration_id) ?? ''} />,
    },
    { id: 'made', header: 'Made or changed', phone: 'none', cell: (request) => request.object_id ?? '–' },
    {
      id: 'key',
      header: 'Idempotency key',
      phone: 'none',
      isHidden: true,
      cell: (request) => request.idempotency_key ?? '–',
    },
    {
      id: 'replay',
      header: 'Replay',
      phone: 'none',
      cell: (request) => (request.original_request_id === null ? '–' : 'Replay'),
    },
    { id: 'duration', header: 'Duration', align: 'right', cell: (request) => `${request.duration_ms} ms` },
    { id: 'at', header: 'Time', cell: (request) => <Time at={request.at} /> },
    {
      id: 'id',
      header: 'Id',
      isHidden: true,
      phone: 'none',
      cell: (request) => <CopyId id={request.id} label="request id" />,
    },
  ];
}
